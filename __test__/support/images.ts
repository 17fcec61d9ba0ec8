/** Headers of images and files, made here, with so many bytes after them. */

const be = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
const le = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, at) => (value >>> (8 * at)) & 255)
const ascii = (text: string) => [...text].map((char) => char.charCodeAt(0))

/** Fills a file up to its size with bytes that a compressed image might have. */
function file(head: readonly number[], bytes: number): Buffer {
  const made = Buffer.alloc(Math.max(bytes, head.length))
  for (let at = 0; at < made.length; at++) made[at] = (at * 73 + (at >> 5) * 29) & 255
  made.set(head)
  return made
}

export const png = (width: number, height: number, bytes = 0) =>
  file(
    [137, ...ascii('PNG\r\n\x1a\n'), ...be(13), ...ascii('IHDR'), ...be(width), ...be(height), 8, 6],
    bytes,
  )

/** `before`: bytes of other segments, such as those of a camera. */
export const jpeg = (width: number, height: number, bytes = 0, before = 0) => {
  const segments = Array.from({ length: Math.ceil(before / 65_000) }, () => [
    ...[255, 0xe1, ...be(65_002).slice(2)],
    ...Array.from({ length: 65_000 }, () => 7),
  ]).flat()
  const frame = [255, 0xc0, 0, 17, 8, ...be(height).slice(2), ...be(width).slice(2), 3]
  return file([255, 0xd8, ...segments, ...frame], bytes)
}

export const gif = (width: number, height: number, bytes = 0) =>
  file([...ascii('GIF89a'), ...le(width, 2), ...le(height, 2)], bytes)

export const webp = (width: number, height: number, bytes = 0) =>
  file([...ascii('RIFF____WEBPVP8X'), ...be(10), ...be(0), ...le(width - 1, 3), ...le(height - 1, 3)], bytes)

export const bmp = (width: number, height: number, bytes = 0) =>
  file([...ascii('BM'), ...be(0), ...be(0), ...be(0), ...le(40, 4), ...le(width, 4), ...le(height, 4)], bytes)

export const pdf = (bytes = 0) => file(ascii('%PDF-1.7\n'), bytes)
export const wav = (bytes = 0) => file(ascii('RIFF____WAVEfmt '), bytes)
