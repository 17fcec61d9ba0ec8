import spillway from 'spillway'
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { Command, MemorySaver, interrupt, StateGraph, MessagesAnnotation } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent, createMiddleware, fakeModel, tool } from 'langchain'
import { z } from 'zod'
import { bytes, ROWS, TEXT, FAILURE } from './scenario.mjs'
const { wrapTool, wrapTools, clampResult } = spillway
const schema = z.object({})
{
 const t = wrapTool(tool(async () => { const a = interrupt({ q: TEXT.slice(0,100000) }); return TEXT + a }, { name: 'ask', schema }))
 const model = fakeModel().respondWithTools([{name:'ask',args:{},id:'1'}]).respond(new AIMessage('done'))
 const agent = createAgent({ model, tools:[t], checkpointer: new MemorySaver() }); const c = {configurable:{thread_id:'1'}}
 const r = await agent.invoke({messages:[{role:'user',content:'go'}]}, c); console.log('interrupt', r.__interrupt__?.length, r.__interrupt__?.[0].value.q.length)
 const r2 = await agent.invoke(new Command({resume:'yes'}), c); console.log(r2.messages.map(m=>m.constructor.name+bytes(m.content)))
}
{
 const t = wrapTool(tool(async () => TEXT, { name: 'big', schema }))
 const n = new ToolNode([t]); const out = await n.invoke({messages:[new AIMessage({content:'',tool_calls:[{name:'big',args:{},id:'1'}]})]}); console.log('ToolNode', out.messages[0].constructor.name, bytes(out.messages[0].content), Object.keys(out.messages[0].lc_kwargs))
 const s = []; for await (const e of await t.stream({})) s.push(bytes(e)); console.log('stream', s)
 console.log('batch', (await t.batch([{}, {}])).map(bytes), 'call', bytes(await t.call?.({}) ?? ''))
 const p = t.pipe(x => bytes(x)); console.log('pipe', await p.invoke({}))
 const w = t.withConfig({tags:['a']}); console.log('withConfig', bytes(await w.invoke({})))
 const ev=[]; for await (const e of t.streamEvents({}, {version:'v2'})) ev.push(e.event+':'+bytes(e.data?.output?.content ?? e.data?.output ?? '')); console.log(ev)
}
{ const m = new ToolMessage({content:[{type:'text',text:TEXT},{type:'image_url',image_url:{url:'x'}}], tool_call_id:'1', name:'n', id:'i', artifact:{a:TEXT}, status:'success', additional_kwargs:{x:1}, response_metadata:{y:1}, metadata:{z:1}})
  const c = clampResult(m, {sideData:'drop'}); console.log(c instanceof ToolMessage, ToolMessage.isInstance(c), c.id, c.artifact, c.metadata, c.additional_kwargs, c.response_metadata, bytes(JSON.stringify(c)), Object.keys(c.toDict().data), c.text.length, c.lc_kwargs.artifact, m.content[0].text===TEXT)
  const d = clampResult(m, {sideData:'keep'}); console.log(d.artifact===m.artifact, d.lc_kwargs.artifact === m.artifact, d.content===d.lc_kwargs.content)
  const stored = JSON.parse(JSON.stringify(m)); console.log(bytes(clampResult(stored,{sideData:'cap'})), bytes(clampResult(m.toDict(),{sideData:'cap'})))
}
