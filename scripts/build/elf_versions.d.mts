export function neededVersions(file: Buffer): string[]
export function versionsAbove(versions: readonly string[], limit: string): string[]
