/*
 * Hand-written checks of the requests that the servers of each format accept, as strict as the real ones. They use no
 * code of the gateway.
 */

// biome-ignore lint/suspicious/noExplicitAny: wire values, looked into by hand
type Loose = any

class Faults {
  readonly list: string[] = []
  unless(holds: boolean, fault: string): void {
    if (!holds) this.list.push(fault)
  }
}

const same = (left: Loose, right: Loose): boolean => JSON.stringify(left) === JSON.stringify(right)
const isObject = (value: Loose): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isJsonObject = (text: Loose): boolean => {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const unique = (list: readonly Loose[]): boolean => new Set(list).size === list.length
const sorted = (list: readonly Loose[]): Loose[] => [...list].sort()

function chat({ messages, tools = [] }: Loose, faults: Faults, longest = 40): void {
  const ids: string[] = []
  for (const [at, message] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: id } = message
    faults.unless(['system', 'developer', 'user', 'assistant', 'tool'].includes(role), `role ${role}`)
    if (role !== 'assistant') faults.unless(content != null && content.length > 0, `empty ${role}`)
    else
      faults.unless(content != null || message.refusal != null || calls !== undefined, 'an assistant without content')
    if (Array.isArray(content)) {
      faults.unless(content.length > 0, 'an empty list of content')
      for (const part of content) if (part.type === 'text') faults.unless(part.text !== '', 'an empty part of text')
      const kinds =
        role === 'user'
          ? ['text', 'image_url', 'input_audio', 'file']
          : role === 'assistant'
            ? ['text', 'refusal']
            : ['text']
      for (const part of content) faults.unless(kinds.includes(part.type), `${part.type} of ${role}`)
    }
    if (calls !== undefined) {
      faults.unless(calls.length > 0, 'an empty list of calls')
      const wanted = calls.map((call: Loose) => call.id)
      ids.push(...wanted)
      const got = []
      for (let next = at + 1; messages[next]?.role === 'tool'; next++) got.push(messages[next].tool_call_id)
      faults.unless(same(sorted(wanted), sorted(got)), `calls ${wanted} but results ${got}`)
      for (const { id, function: called } of calls) {
        faults.unless(typeof id === 'string' && id !== '' && id.length <= longest, `id ${id}`)
        faults.unless(NAME.test(called.name), `name ${called.name}`)
        faults.unless(isJsonObject(called.arguments), `arguments ${called.arguments}`)
      }
    }
    if (role === 'tool') {
      let before = at - 1
      while (messages[before]?.role === 'tool') before--
      faults.unless(
        (messages[before]?.tool_calls ?? []).some((call: Loose) => call.id === id),
        `a result of no call: ${id}`,
      )
    }
  }
  faults.unless(messages.length > 0, 'no messages')
  for (const tool of tools) faults.unless(NAME.test(tool.function.name), `tool ${tool.function.name}`)
}

function messages(body: Loose, faults: Faults): void {
  const turns: { role: string; content: Loose[] }[] = []
  for (const { role, content } of body.messages) {
    faults.unless(role === 'user' || role === 'assistant', `role ${role}`)
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    faults.unless(blocks.length > 0, `an empty turn of ${role}`)
    const last = turns.at(-1)
    if (last?.role === role) last!.content.push(...blocks)
    else turns.push({ role, content: [...blocks] })
  }
  faults.unless(turns[0]?.role === 'user', `begins with ${turns[0]?.role}`)
  const ids: string[] = []
  for (const [at, { role, content }] of turns.entries()) {
    const kinds =
      role === 'user'
        ? ['text', 'image', 'document', 'tool_result']
        : ['text', 'thinking', 'redacted_thinking', 'tool_use']
    for (const block of content) {
      faults.unless(kinds.includes(block.type), `${block.type} of ${role}`)
      if (block.type === 'text') faults.unless(/\S/.test(block.text), 'a text without words')
      if (block.type === 'thinking')
        faults.unless(typeof block.signature === 'string' && block.signature !== '', 'thinking without signature')
      if (block.type === 'tool_use') {
        ids.push(block.id)
        faults.unless(/^[a-zA-Z0-9_-]+$/.test(block.id), `id ${block.id}`)
        faults.unless(/^[a-zA-Z0-9_-]{1,128}$/.test(block.name), `name ${block.name}`)
        faults.unless(isObject(block.input), 'input is no object')
      }
    }
    const uses = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const results = (turns[at + 1]?.content ?? [])
      .filter(({ type }) => type === 'tool_result')
      .map(one => one.tool_use_id)
    if (role === 'assistant') faults.unless(same(sorted(uses), sorted(results)), `calls ${uses} but results ${results}`)
    if (at === 0)
      faults.unless(
        content.every(({ type }) => type !== 'tool_result'),
        'a result at the start',
      )
    const first = content.findIndex(({ type }) => type !== 'tool_result')
    faults.unless(
      first < 0 || content.slice(first).every(({ type }) => type !== 'tool_result'),
      'a result behind other content',
    )
  }
  if (body.thinking?.type === 'enabled' && turns.at(-1)?.content.some(({ type }) => type === 'tool_result'))
    faults.unless(/thinking/.test(turns.at(-2)?.content[0].type), 'a budget without reasoning')
  faults.unless(unique(ids), `ids ${ids}`)
  faults.unless(turns.at(-1)?.role === 'user', 'ends with the assistant')
  for (const tool of body.tools ?? []) faults.unless(/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name), `tool ${tool.name}`)
}

const RESULT_OF: { readonly [type: string]: string } = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}

function responses({ input, tools = [] }: Loose, faults: Faults): void {
  const items: Loose[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const calls: string[] = []
  const results: string[] = []
  const ids: string[] = []
  for (const [at, item] of items.entries()) {
    const type = item.type ?? 'message'
    if (item.id !== undefined) ids.push(item.id)
    if (type === 'message') {
      const parts = typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content
      faults.unless(parts.length > 0, 'a message without content')
      for (const part of parts) {
        const kinds =
          item.role === 'assistant'
            ? ['output_text', 'refusal', 'input_text']
            : ['input_text', 'input_image', 'input_file']
        faults.unless(
          kinds.includes(part.type) &&
            (item.role !== 'assistant' || typeof item.content === 'string' || part.type !== 'input_text'),
          `${part.type} of ${item.role}`,
        )
      }
      if (item.role !== 'assistant')
        faults.unless(
          parts.some((part: Loose) => part.text === undefined || part.text !== ''),
          `empty ${item.role}`,
        )
      if (item.id !== undefined) faults.unless(/^msg/.test(item.id), `id ${item.id}`)
    } else if (RESULT_OF[type] !== undefined) {
      calls.push(item.call_id)
      faults.unless(NAME.test(item.name), `name ${item.name}`)
      faults.unless(isJsonObject(item.arguments), 'arguments')
      faults.unless(item.call_id !== '' && item.call_id.length <= 64, `call id ${item.call_id}`)
      if (item.id !== undefined) faults.unless(/^fc/.test(item.id), `id ${item.id}`)
    } else if (Object.values(RESULT_OF).includes(type)) {
      faults.unless(calls.includes(item.call_id), `a result of no call ${item.call_id}`)
      results.push(item.call_id)
    } else if (type === 'reasoning') {
      const next = items[at + 1]
      faults.unless(
        next !== undefined && next.role !== 'user' && !Object.values(RESULT_OF).includes(next.type),
        'reasoning without an item behind it',
      )
      faults.unless(Array.isArray(item.summary), 'reasoning without summary')
      if (item.id !== undefined) faults.unless(/^rs/.test(item.id), `id ${item.id}`)
      faults.unless(typeof item.encrypted_content === 'string', 'reasoning without proof')
    } else faults.unless(false, `item ${type}`)
  }
  faults.unless(unique(ids), `ids ${ids}`)
  faults.unless(same(sorted(calls), sorted(results)), `calls ${calls} but results ${results}`)
  for (const tool of tools) faults.unless(NAME.test(tool.name), `tool ${tool.name}`)
}

const vertex = (body: Loose, faults: Faults): void => {
  contents(body, faults)
  faults.unless(!/"function(Call|Response)":{"id"/.test(JSON.stringify(body)), 'an id')
  const results = body.contents.flatMap(({ parts }: Loose) =>
    parts.flatMap((part: Loose) => part.functionResponse ?? []),
  )
  for (const { parts } of results) faults.unless(parts === undefined, 'media of a result')
}

function contents(body: Loose, faults: Faults): void {
  const turns: Loose[] = body.contents
  faults.unless(turns[0]?.role === 'user' || turns[0]?.role === undefined, `begins with ${turns[0]?.role}`)
  for (const [at, { role, parts }] of turns.entries()) {
    faults.unless(role === 'user' || role === 'model', `role ${role}`)
    faults.unless(parts?.length > 0, 'a turn without parts')
    for (const part of parts ?? []) {
      const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'].filter(
        kind => part[kind] !== undefined,
      )
      faults.unless(kinds.length === 1, `a part of ${kinds}`)
      if (part.text === '') faults.unless(part.thoughtSignature !== undefined, 'an empty text')
      if (part.functionCall !== undefined)
        faults.unless(
          role === 'model' &&
            /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(part.functionCall.name) &&
            isObject(part.functionCall.args ?? {}),
          `call ${part.functionCall.name} of ${role}`,
        )
      if (part.functionResponse !== undefined)
        faults.unless(role === 'user' && isObject(part.functionResponse.response), 'result of the model')
    }
    const calls = (parts ?? []).flatMap((part: Loose) => part.functionCall ?? [])
    if (calls.length === 0 || role !== 'model') {
      const results = (parts ?? []).flatMap((part: Loose) => part.functionResponse ?? [])
      if (results.length > 0)
        faults.unless(
          (turns[at - 1]?.parts ?? []).some((part: Loose) => part.functionCall !== undefined),
          'results without calls',
        )
      continue
    }
    faults.unless(turns[at - 1]?.role === 'user', 'calls that do not follow the user')
    const results = (turns[at + 1]?.parts ?? []).flatMap((part: Loose) => part.functionResponse ?? [])
    faults.unless(
      same(sorted(calls.map((one: Loose) => one.name)), sorted(results.map((one: Loose) => one.name))),
      `calls ${calls.map((one: Loose) => one.name)} but results ${results.map((one: Loose) => one.name)}`,
    )
    const wanted = calls.map((one: Loose) => one.id)
    const got = results.map((one: Loose) => one.id)
    faults.unless(same(sorted(wanted), sorted(got)), `calls ${wanted} but results ${got}`)
  }
  faults.unless(turns.at(-1)?.role === 'user', 'ends with the model')
}

function converse({ messages: turns, toolConfig, additionalModelRequestFields: fields }: Loose, faults: Faults): void {
  const ids: string[] = []
  for (const [at, { role, content }] of turns.entries()) {
    faults.unless(role === (at % 2 === 0 ? 'user' : 'assistant'), `${role} at ${at}`)
    faults.unless(content.length > 0, `an empty turn of ${role}`)
    for (const block of content) {
      if (block.text !== undefined) faults.unless(/\S/.test(block.text), 'a text without words')
      const { toolUse: use, reasoningContent: thought } = block
      if (use !== undefined) {
        ids.push(use.toolUseId)
        faults.unless(
          role === 'assistant' &&
            isObject(use.input) &&
            NAME.test(use.name) &&
            /^[a-zA-Z0-9_.:-]{1,64}$/.test(use.toolUseId),
          `use ${use.name} ${use.toolUseId}`,
        )
      }
      if (thought !== undefined) {
        faults.unless(role === 'assistant', 'a thought of the user')
        if (thought.redactedContent === undefined)
          faults.unless(Boolean(thought.reasoningText.signature), 'a thought without signature')
      }
      if (block.toolResult !== undefined)
        faults.unless(role === 'user' && block.toolResult.content.length > 0, 'result')
    }
    const uses = content.flatMap((block: Loose) => block.toolUse?.toolUseId ?? [])
    const results = (turns[at + 1]?.content ?? []).flatMap((block: Loose) => block.toolResult?.toolUseId ?? [])
    if (role === 'assistant') faults.unless(same(sorted(uses), sorted(results)), `calls ${uses} but results ${results}`)
    if (at === 0)
      faults.unless(
        content.every((block: Loose) => block.toolResult === undefined),
        'a result at the start',
      )
  }
  faults.unless(unique(ids), `ids ${ids}`)
  faults.unless(turns.at(-1)?.role === 'user', 'ends with the assistant')
  if (fields?.thinking?.type === 'enabled' && turns.at(-1).content.some((block: Loose) => block.toolResult))
    faults.unless(turns.at(-2)?.content[0].reasoningContent !== undefined, 'a budget without reasoning')
  const used = turns.some(({ content }: Loose) =>
    content.some((block: Loose) => block.toolUse !== undefined || block.toolResult !== undefined),
  )
  if (used) faults.unless((toolConfig?.tools ?? []).length > 0, 'calls without tools')
}

function cohere({ messages: turns }: Loose, faults: Faults): void {
  chat(
    {
      messages: turns.map((turn: Loose) =>
        turn.role === 'assistant' ? { ...turn, content: undefined, refusal: 'x' } : turn,
      ),
    },
    faults,
    100,
  )
  for (const { role, content, tool_plan, tool_calls } of turns) {
    if (role !== 'assistant') continue
    faults.unless((content?.length ?? 0) > 0 || tool_plan || tool_calls?.length > 0, 'an empty assistant')
    if (Array.isArray(content))
      for (const part of content) {
        faults.unless(['text', 'thinking'].includes(part.type), `${part.type} of the assistant`)
        faults.unless(part[part.type] !== '', `an empty ${part.type}`)
      }
  }
}

function interactions({ input }: Loose, faults: Faults): void {
  const calls: string[] = []
  const results: string[] = []
  const steps: Loose[] =
    typeof input === 'string' ? [{ type: 'user_input', content: [{ type: 'text', text: input }] }] : input
  for (const step of steps) {
    const { type, content } = step
    faults.unless(
      ['user_input', 'model_output', 'thought', 'function_call', 'function_result'].includes(type),
      `step ${type}`,
    )
    if (type === 'user_input' || type === 'model_output') {
      faults.unless(content?.length > 0, `an empty ${type}`)
      for (const part of content ?? [])
        if (part.type === 'text') faults.unless(part.text !== '', `an empty text of ${type}`)
    }
    if (type === 'thought')
      faults.unless(Boolean(step.signature) || step.summary?.length > 0, 'a thought without words or signature')
    if (type === 'function_call') {
      calls.push(step.id)
      faults.unless(Boolean(step.id) && isObject(step.arguments), `call ${step.id}`)
    }
    if (type === 'function_result') {
      faults.unless(calls.includes(step.call_id), `a result of no call ${step.call_id}`)
      results.push(step.call_id)
    }
  }
  faults.unless(same(sorted(calls), sorted(results)), `calls ${calls} but results ${results}`)
  faults.unless(['user_input', 'function_result'].includes(steps.at(-1)?.type), `ends with ${steps.at(-1)?.type}`)
}

const CHECKS: { readonly [format: string]: (body: Loose, faults: Faults) => void } = {
  ...{ chat, 'chat-r': chat, messages, responses, contents, vertex, converse, 'cohere-chat': cohere, interactions },
}

/** Returns the reasons for which the server refuses the request. */
export function faultsOf(upstream: string, body: Loose): readonly string[] {
  const faults = new Faults()
  CHECKS[upstream.replace(/-b$/, '')]!(body, faults)
  if (JSON.stringify(body).includes('aWw6')) faults.unless(false, 'a wrapper of the gateway')
  return faults.list
}
