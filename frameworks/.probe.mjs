import spillway from 'spillway'
import { Agent, Runner, setTracingDisabled, tool, Usage, MemorySession, RunState } from '@openai/agents'
import { z } from 'zod'
import { bytes, ROWS, TEXT, FAILURE } from './scenario.mjs'
const { wrapTool, wrapTools, clampResult } = spillway
setTracingDisabled(true)
class M { sent=[]; constructor(n, a='{}'){this.n=n;this.a=a}
 async getResponse({input}) { const r = input.filter?.(({type})=>type==='function_call_result')??[]; this.sent.push(...r)
  return { usage: new Usage(), output: r.length ? [{type:'message',role:'assistant',status:'completed',content:[{type:'output_text',text:'done'}]}] : this.n.map(name=>({type:'function_call',callId:name,name,arguments:this.a,status:'completed'})) } } }
{
 const t = tool({ name:'s', description:'s', parameters: z.object({}), outputSchema: z.object({rows: z.array(z.string())}), execute: async () => ({ rows: ROWS }) })
 for (const x of [t, wrapTool(t)]) { const m = new M(['s']); const a = new Agent({name:'a', model:m, tools:[x]}); try { await new Runner().run(a,'go'); console.log('outputSchema', JSON.stringify(m.sent[0]).slice(0,200), bytes(m.sent[0].output.text)) } catch (e) { console.log('ERR', e.message.slice(0,300)) } }
}
{
 // approval
 const t = tool({ name:'s', description:'s', parameters: z.object({p: z.string()}), needsApproval: async (_c, {p}) => p === 'x', execute: async ({p}) => TEXT+p })
 const x = wrapTool(t); const m = new M(['s'], '{"p":"x"}'); const a = new Agent({name:'a', model:m, tools:[x]}); const r = await new Runner().run(a,'go'); console.log('interruptions', r.interruptions.length); r.state.approve(r.interruptions[0]); const r2 = await new Runner().run(a, r.state); console.log(r2.finalOutput, bytes(m.sent[0].output.text), bytes(r2.state.toString()))
}
{
 // agent as tool
 const inner = new Agent({ name:'inner', model: { async getResponse(){ return {usage:new Usage(), output:[{type:'message',role:'assistant',status:'completed',content:[{type:'output_text',text:TEXT}]}]} } } })
 const x = wrapTool(inner.asTool({toolName:'s', toolDescription:'s'})); const m = new M(['s'], '{"input":"x"}'); const a = new Agent({name:'a', model:m, tools:[x]}); await new Runner().run(a,'go'); console.log('asTool', bytes(m.sent[0].output.text))
}
{
 // hosted-ish lists
 for (const out of [ {type:'text', text:TEXT}, {type:'image', image:'data:image/png;base64,xx'}, [{type:'file', file:{data:'aGk=', mediaType:'text/plain', filename:'a'}}, {type:'text', text:TEXT}], ['a', TEXT], [[TEXT]], new Map([[1,TEXT]]), {big: TEXT, type:'report'}, {content: TEXT}, {text: TEXT}, {content:[{type:'text',text:TEXT}], extra: 1 }, {output: TEXT}, {role:'tool', content: TEXT}, null, undefined, 7 ]) {
  const x = wrapTool(tool({name:'s',description:'s',parameters:z.object({}),execute: async()=>out})); const m = new M(['s']); const a = new Agent({name:'a', model:m, tools:[x]}); try { await new Runner().run(a,'go'); const o=m.sent[0].output; console.log(Array.isArray(o)?o.map(b=>b.type+':'+bytes(b.text??'')):o.type+':'+bytes(o.text??''), JSON.stringify(o).slice(0,60)) } catch(e) { console.log('ERR', e.message.slice(0,100)) }
 }
}
