const { clampResult, clampText, OutputCapture, wrapTool } = require('spillway')

const log = 'a line of a log\n'.repeat(20_000)

test('texts', () => {
  expect(clampText(log).length).toBeLessThanOrEqual(51_200)
})

test('results of the realm of a test', async () => {
  const result = clampResult({ content: [{ type: 'text', text: log }], isError: true })
  expect(result.isError).toBe(true)
  expect(result.content[0].text.length).toBeLessThanOrEqual(51_200)
  const failing = wrapTool(async () => {
    throw new Error(log)
  })
  await expect(failing()).rejects.toThrow(/tool output truncated/)
})

test('the output of a process', async () => {
  const capture = new OutputCapture()
  capture.stdout.write(log)
  const { text, total } = await capture.finish({ exitCode: 1 })
  expect([text.length <= 51_200, total.lines]).toEqual([true, 20_000])
})
