export function isMet(expression: string | undefined, allowed: readonly string[]): boolean
export function allowedLicenses(toml: string): string[]
export function formatNotices(entries: readonly { title: string; texts: readonly string[] }[]): string
