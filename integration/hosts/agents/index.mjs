import { claudeCode } from './claude_code.mjs'
import { clineCli } from './cline_cli.mjs'
import { codex } from './codex.mjs'
import { continueCli } from './continue_cli.mjs'
import { copilotCli } from './copilot_cli.mjs'
import { geminiCli } from './gemini_cli.mjs'
import { kimiCli } from './kimi_cli.mjs'
import { kimiCode } from './kimi_code.mjs'
import { opencode } from './opencode.mjs'
import { pi } from './pi.mjs'
import { qwenCode } from './qwen_code.mjs'

/** All hosts. One says how it is installed (`install`), pointed at a model (`environment`,
 *  `settings`), started, resumed and forked (`args`), where its sessions are (`sessions`), and the
 *  calls of its tools (`calls`, `mcp`). */
export const agents = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  'qwen-code': qwenCode,
  opencode,
  pi,
  'copilot-cli': copilotCli,
  'cline-cli': clineCli,
  'kimi-cli': kimiCli,
  'kimi-code': kimiCode,
  'continue-cli': continueCli,
}
