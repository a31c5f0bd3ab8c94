/* OpenAI's Agents SDK, streamed or whole: its own loop over its own history. */

import { address, key, load, model, prompt, STEPS, tools } from './session.mjs'

const { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled, tool } =
  load('@openai/agents')
const { OpenAI } = load('openai')

setTracingDisabled(true)
const [format, way] = process.argv.slice(2)
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key })
const settings = {
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  providerData: { include: ['reasoning.encrypted_content'] },
}
const agent = new Agent({
  name: 'files',
  instructions: 'You work with files.',
  model: format === 'chat' ? new OpenAIChatCompletionsModel(client, model) : new OpenAIResponsesModel(client, model),
  modelSettings: format === 'chat' ? {} : settings,
  tools: tools.map(({ name, description, schema, run }) =>
    tool({ name, description, parameters: schema, strict: true, execute: run }),
  ),
})
const streamed = way !== 'whole'
const result = await new Runner().run(agent, prompt, { stream: streamed, maxTurns: STEPS })
if (streamed) await result.completed
console.log(result.finalOutput)
