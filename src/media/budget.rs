//! One budget for several payloads.

use super::item::{Class, Item};
use super::provider_limits::{OmissionReason, ProviderLimits};

/// Limits of several payloads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaBudget {
    /// Bytes of the payloads of tool results, decoded.
    pub bytes: usize,
    /// The number of these.
    pub items: usize,
    /// Keep the first rather than the latest.
    pub first: bool,
    pub provider: ProviderLimits,
}

impl MediaBudget {
    /// Returns a budget without limits.
    pub const NONE: MediaBudget =
        MediaBudget { bytes: usize::MAX, items: usize::MAX, first: false, provider: ProviderLimits::NONE };

    /// Returns, for each payload in order, true to omit it.
    pub fn gone(&self, items: &[Item]) -> Vec<bool> {
        self.judge(items).iter().map(Option::is_some).collect()
    }

    /// Returns, for each payload in order, the reason to omit it. A payload that the provider
    /// rejects by itself is omitted wherever it is. Of the others, those of the user are kept
    /// first, since no tool can give them again.
    pub fn judge(&self, items: &[Item]) -> Vec<Option<OmissionReason>> {
        let limits = &self.provider;
        let mut judged = Verdicts { items, order: self.order(items), reasons: vec![] };
        judged.reasons.extend(items.iter().map(|item| limits.alone(item)));
        judged.keep(OmissionReason::Budget, (self.items, self.bytes), |item| {
            (!item.from_user).then_some((1, item.bytes))
        });
        judged
            .keep(OmissionReason::Images, (limits.images, 0), |item| item.class.is_image().then_some((1, 0)));
        judged.keep(OmissionReason::Documents, (limits.documents, 0), |item| {
            (item.class == Class::Document).then_some((1, 0))
        });
        judged.keep(OmissionReason::RequestBytes, (usize::MAX, limits.room()), |item| Some((1, item.sent())));
        judged.thin(limits.many, limits.many_pixels);
        judged.reasons
    }

    /// Returns the indexes of payloads, the one to keep first at the start.
    fn order(&self, items: &[Item]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        if !self.first {
            order.reverse();
        }
        order.sort_by_key(|at| !items[*at].from_user);
        order
    }
}

/// Payloads and the reasons so far to omit some.
struct Verdicts<'a> {
    items: &'a [Item],
    /// Indexes, the payload to keep first at the start.
    order: Vec<usize>,
    reasons: Vec<Option<OmissionReason>>,
}

impl Verdicts<'_> {
    /// Keeps payloads in order, as long as each fits beside the ones before it. `cost`: what a
    /// payload takes of both rooms, `None` if it does not count.
    fn keep(
        &mut self,
        reason: OmissionReason,
        room: (usize, usize),
        cost: impl Fn(&Item) -> Option<(usize, usize)>,
    ) {
        let (mut items, mut bytes) = room;
        for at in &self.order {
            let Some((one, size)) = cost(&self.items[*at]).filter(|_| self.reasons[*at].is_none()) else {
                continue;
            };
            if one <= items && size <= bytes {
                (items, bytes) = (items - one, bytes - size);
            } else {
                self.reasons[*at] = Some(reason);
            }
        }
    }

    /// Omits images over `pixels`, the last in order first, until no more than `many` images are
    /// left.
    fn thin(&mut self, many: usize, pixels: usize) {
        let is_left = |at: &usize, reasons: &[Option<OmissionReason>]| {
            reasons[*at].is_none() && self.items[*at].class.is_image()
        };
        let left = self.order.iter().filter(|at| is_left(at, &self.reasons)).count();
        let mut excess = left.saturating_sub(many);
        for at in self.order.iter().rev() {
            if excess > 0 && is_left(at, &self.reasons) && self.items[*at].side() > pixels {
                self.reasons[*at] = Some(OmissionReason::ManyImagesPixels);
                excess -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items(sizes: &[usize]) -> Vec<Item> {
        sizes.iter().map(|bytes| Item { bytes: *bytes, ..Item::default() }).collect()
    }

    fn kept(budget: MediaBudget, items: &[Item]) -> Vec<Item> {
        let gone = budget.gone(items).into_iter();
        items.iter().zip(gone).filter(|(_, gone)| !gone).map(|(item, _)| *item).collect()
    }

    fn image(bytes: usize, side: u32, from_user: bool) -> Item {
        Item { bytes, size: Some((side, 1)), class: Class::Image, from_user }
    }

    #[test]
    fn the_latest_stay_unless_the_first_are_asked_for() {
        let kept = |budget, sizes: &[usize]| -> Vec<usize> {
            kept(budget, &items(sizes)).iter().map(|item| item.bytes).collect()
        };
        let budget = MediaBudget { bytes: 10, items: 2, ..MediaBudget::NONE };
        assert_eq!(kept(budget, &[1, 2, 3, 4]), [3, 4]);
        assert_eq!(kept(MediaBudget { first: true, ..budget }, &[1, 2, 3, 4]), [1, 2]);
        assert_eq!(kept(budget, &[1, 20, 4]), [1, 4]);
        assert_eq!(kept(MediaBudget { bytes: 0, ..budget }, &[0, 1]), [0]);
        assert!(kept(MediaBudget { items: 0, ..budget }, &[0, 1]).is_empty());
    }

    #[test]
    fn payloads_of_the_user_stay_unless_they_are_rejected_themselves() {
        let provider = ProviderLimits { pixels: 80, images: 2, ..ProviderLimits::NONE };
        let budget = MediaBudget { items: 0, provider, ..MediaBudget::NONE };
        let items = [image(1, 9, true), image(1, 81, true), image(1, 9, false), image(1, 9, true)];
        let reasons = [None, Some(OmissionReason::ImagePixels), Some(OmissionReason::Budget), None];
        assert_eq!(budget.judge(&items), reasons);
        let budget = MediaBudget { items: usize::MAX, ..budget };
        let reasons = [None, Some(OmissionReason::ImagePixels), Some(OmissionReason::Images), None];
        assert_eq!(budget.judge(&items), reasons);
    }

    #[test]
    fn large_images_are_omitted_until_there_are_few_images() {
        let provider = ProviderLimits { many: 3, many_pixels: 20, ..ProviderLimits::NONE };
        let budget = MediaBudget { provider, ..MediaBudget::NONE };
        let items = [21, 9, 22, 9, 23].map(|side| image(1, side, false));
        let (gone, stays) = (Some(OmissionReason::ManyImagesPixels), None);
        assert_eq!(budget.judge(&items), [gone, stays, gone, stays, stays]);
        assert_eq!(budget.judge(&items[2..]), [stays; 3]);
    }

    fn any_item() -> impl Strategy<Value = Item> {
        let class =
            prop_oneof![Just(Class::Image), Just(Class::Document), Just(Class::Other), Just(Class::Broken)];
        let size = prop::option::of((1..100u32, 1..100u32));
        (0..100usize, size, class, any::<bool>()).prop_map(|(bytes, size, class, from_user)| Item {
            bytes,
            size,
            class,
            from_user,
        })
    }

    proptest! {
        #[test]
        fn what_stays_is_within_every_limit_and_stays(
            items in prop::collection::vec(any_item(), 0..40),
            bytes in 0..2_000usize, most in 0..40usize, first: bool,
            numbers in prop::array::uniform8(prop_oneof![Just(usize::MAX), 0..120usize]),
            request in 0..4_000usize, broken_images in prop_oneof![Just(usize::MAX), Just(0)],
        ) {
            let [image_base64, image_bytes, pixels, many, many_pixels, images, document_bytes, documents] = numbers;
            let provider = ProviderLimits {
                image_base64, image_bytes, pixels, many, many_pixels, images, document_bytes, documents,
                request_bytes: request, broken_images,
            };
            let budget = MediaBudget { bytes, items: most, first, provider };
            let left = kept(budget, &items);
            let of_tools = || left.iter().filter(|item| !item.from_user);
            prop_assert!(of_tools().map(|item| item.bytes).sum::<usize>() <= bytes && of_tools().count() <= most);
            let count = |class| left.iter().filter(|item| item.class == class).count();
            let images = || left.iter().filter(|item| item.class.is_image());
            prop_assert!(images().count() <= provider.images && count(Class::Document) <= provider.documents);
            prop_assert!(broken_images > 0 || count(Class::Broken) == 0);
            prop_assert!(left.iter().all(|item| provider.alone(item).is_none()));
            prop_assert!(left.iter().map(Item::sent).sum::<usize>() <= request);
            let is_wide = |item: &Item| item.side() > provider.many_pixels;
            prop_assert!(images().count() <= provider.many || !images().any(is_wide));
            prop_assert_eq!(&kept(budget, &left), &left);
        }
    }
}
