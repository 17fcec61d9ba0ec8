// An agent without a model. It knows its question and what an answer looks like, and acts on
// nothing but the texts that it is shown: it calls the next tool once it has read what the call
// takes, searches a saved output if the shown part does not hold it, and gives up otherwise.

/** Requests of a task, at most. */
const STEPS = 40

/** Runs an agent with a policy. Returns its figures. */
export async function play(task, policy, { window, count }) {
  const found = {}
  const messages = [`You have tools. ${task.question}`]
  const figures = { kind: task.kind, solved: false, wrong: false, refused: false, steps: 0, tokens: 0 }
  /** Asks the model: false if its provider refuses the prompt. */
  const ask = () => {
    const tokens = messages.reduce((sum, text) => sum + count(text), 0)
    figures.steps += 1
    if (tokens > window) figures.refused = true
    else figures.tokens += tokens
    return tokens <= window
  }
  for (const stage of task.stages) {
    if (!ask()) return figures
    const call = { tool: stage.tool, args: stage.args(found) }
    let text = await policy.call(call)
    messages.push(JSON.stringify(call), text)
    const shown = text
    for (const need of stage.needs) {
      let from = 1
      while (from !== undefined) {
        const value = need.find(text, found) ?? need.find(shown, found)
        if (value !== undefined) {
          found[need.name] = value
          break
        }
        if (figures.steps === STEPS || !ask()) return figures
        const page = await policy.search?.(shown, call, need.pattern(found), from)
        if (!page) return figures
        text = page.text
        messages.push(JSON.stringify(page.call), text)
        from = need.find(text, found) === undefined ? page.next : from
      }
      if (found[need.name] === undefined) return figures
    }
  }
  if (!ask()) return figures
  figures.solved = task.answer(found) === task.expected
  figures.wrong = !figures.solved
  return figures
}
