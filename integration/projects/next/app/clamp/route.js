import { clampText, wrapTool } from 'spillway'

export const dynamic = 'force-dynamic'

/** Answers with the sizes of a text and of a tool's result. */
export async function GET() {
  const log = 'a line of a log\n'.repeat(20_000)
  const tool = wrapTool({ execute: async () => ({ content: [{ type: 'text', text: log }] }) })
  const { content } = await tool.execute()
  return Response.json({ text: clampText(log).length, result: content[0].text.length })
}
