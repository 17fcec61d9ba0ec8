/** Makes lines of 50 chars, numbered, of a size in all. */
export const lines = (size) =>
  Array.from({ length: size / 50 }, (_, at) =>
    `2026-01-02T03:04:05Z INFO step ${at} is done`.padEnd(49, '.'),
  ).join('\n')
