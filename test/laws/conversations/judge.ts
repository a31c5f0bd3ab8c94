import { PNG } from './callers.ts'
import { marksIn, type Said, type Step, type Talk } from './script.ts'
import { faultsOf } from './strict-servers.ts'
import { formatOf, type Scene } from './theatre.ts'

// biome-ignore lint/suspicious/noExplicitAny: wire values, looked into by hand
type Loose = any

class Failure extends Error {}
const fail = (what: string, scene: Scene): never => {
  const { heard, sent, step, number, headers, answered } = scene
  const losses = { lost: headers['interlingua-loss'], added: headers['interlingua-added'] }
  throw new Failure(
    `${what}\nin step ${number} at ${step.upstream}\nLOSSES ${JSON.stringify(losses)}\nSENT ${JSON.stringify({ ...sent, tools: undefined, toolConfig: undefined }).replaceAll(PNG, 'PNG')}\nHEARD ${JSON.stringify({ ...heard?.body, tools: undefined, toolConfig: undefined }).replaceAll(PNG, 'PNG')}\nANSWERED ${answered.slice(0, 1500)}`,
  )
}

const leavesOf = (value: Loose): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) =>
          ['type', 'role', 'thoughtSignature'].includes(key) ? [] : leavesOf(inner),
        )
      : []

/** Formats whose callers have texts before all calls, and one reasoning. */
const BARE: ReadonlySet<string> = new Set(['chat', 'cohere-chat', 'chat-r'])

const NO_BLANKS: ReadonlySet<string> = new Set(['messages', 'converse'])

const markOf = (one: Said): string[] => (one.type === 'call' ? [one.mark] : marksIn(one.text))

/** Checks what a conversation did. */
export function judge(caller: string, talk: Talk, scenes: readonly Scene[]): void {
  for (const [at, scene] of scenes.entries()) {
    const { step, status, heard } = scene
    if (status !== 200) fail(`status ${status}`, scene)
    if (heard?.upstream !== step.upstream) fail(`went to ${heard?.upstream}`, scene)
    {
      const native = formatOf(step.upstream) === caller
      // A native request goes on as the caller wrote it, also without the reasoning that the caller dropped.
      const isKept = !scenes.slice(0, at + 1).some(one => one.step.edit === 'drops-reasoning')
      const faults = faultsOf(step.upstream, heard!.body).filter(
        fault =>
          !native ||
          /wrapper|^id |assistant without content|without signature/.test(fault) ||
          (isKept && fault === 'a budget without reasoning' && leadsWithThought(talk.steps[at - 1]!)),
      )
      if (faults.length > 0) fail(`refused: ${faults.join('; ')}`, scene)
    }
    checkPairs(caller, talk, scene)
    checkMarks(caller, talk, scenes, at)
    checkAnswer(caller, talk, scene)
    checkPrefix(scenes, at)
  }
}

/** Whether the answer of a step begins with reasoning, as Claude's with a budget always do. */
const leadsWithThought = ({ answer, upstream }: Step): boolean =>
  answer.said[0]?.type === 'thought' && upstream !== 'chat'

/** A server that takes no ids matches results to calls by their order. */
function checkPairs(caller: string, talk: Talk, scene: Scene): void {
  if (scene.step.upstream !== 'vertex' || formatOf(caller) === 'contents') return
  const answers = new Map(
    talk.steps.flatMap(({ answer }, at) =>
      answer.said
        .filter(({ type }) => type === 'call')
        .map((one, index) => [markOf(one)[0], talk.steps[at + 1]?.results[index]]),
    ),
  )
  for (const [at, { role, parts }] of scene.heard!.body.contents.entries()) {
    const called = role === 'model' ? parts.filter((part: Loose) => part.functionCall !== undefined) : []
    for (const [index, call] of called.entries()) {
      const result = scene.heard!.body.contents[at + 1].parts[index]
      const [mark] = marksIn(JSON.stringify(call))
      if (marksIn(JSON.stringify(result))[0] !== answers.get(mark)) fail(`${mark} got ${JSON.stringify(result)}`, scene)
    }
  }
}

/** Everything that was said before is in the request once and in order. */
function checkMarks(caller: string, talk: Talk, scenes: readonly Scene[], at: number): void {
  const scene = scenes[at]!
  const { step, sent, heard } = scene
  const inSent = marksIn(JSON.stringify({ ...sent, tools: undefined }).replace(/aWw6[\w+/=]*/g, ''))
  const body = JSON.stringify(heard!.body)
  const got = marksIn(body)
  const count = (mark: string) => got.filter(one => one === mark).length
  for (const mark of new Set(got)) if (count(mark) > 1) fail(`${mark} is doubled`, scene)
  const spoken = inSent.filter(mark => !/Proof|Thot/.test(mark))
  const heardSpoken = got.filter(mark => !/Proof|Thot/.test(mark))
  const missing = [...new Set(spoken)].filter(mark => !heardSpoken.includes(mark))
  if (missing.length > 0) fail(`${missing} are missing`, scene)
  const inOrder = (list: readonly string[]) =>
    (BARE.has(step.upstream) || BARE.has(caller) ? [...list].sort() : list).filter(mark => !/Rule|Resl/.test(mark))
  if (inOrder(heardSpoken).join() !== inOrder([...new Set(spoken)]).join())
    fail(`order ${heardSpoken} of ${spoken}`, scene)
  // Pictures arrive once each.
  for (const { picture } of talk.steps.slice(0, at + 1)) {
    if (picture === undefined || !JSON.stringify(sent).includes(picture)) continue
    const found = body.split(picture).length - 1
    if (found !== 1) fail(`the picture ${picture} is there ${found} times`, scene)
  }
  // Files arrive once each, as bytes or as their text.
  for (const file of talk.steps.slice(0, at + 1).flatMap(one => [one.file ?? [], one.shownFile ?? []].flat())) {
    const text = Buffer.from(file.data, 'base64').toString()
    const isSent = JSON.stringify(sent).includes(file.data) || JSON.stringify(sent).includes(inJson(text))
    if (!isSent) continue
    const found = body.split(file.data).length - 1 + (body.split(inJson(text)).length - 1)
    if (found !== 1) fail(`the file ${text} is there ${found} times`, scene)
  }
  // Texts arrive as they were said.
  const leaves = leavesOf(heard!.body).join('')
  for (const { answer, user, results } of talk.steps.slice(0, at + 1)) {
    const texts = [
      ...answer.said.flatMap(one => (one.type === 'text' ? [one.text] : [])),
      ...(user === undefined ? [] : [user]),
      ...results,
    ]
    for (const text of texts) {
      const [mark] = marksIn(text)
      // A program that keeps each chunk as a turn has chunks of white space, which Claude refuses as a block.
      if (caller === 'contents' && NO_BLANKS.has(formatOf(step.upstream)) && text.startsWith(' ')) continue
      if (heardSpoken.includes(mark!) && !leaves.includes(text)) fail(`${JSON.stringify(text)} was changed`, scene)
    }
  }
  // Signatures of an upstream come back to it.
  for (const [before, { answer, upstream }] of talk.steps.slice(0, at).entries()) {
    for (const one of answer.said) {
      if (one.type !== 'thought' || BARE.has(upstream)) continue
      if (upstream !== step.upstream) {
        if (got.includes(one.proof)) fail(`${one.proof} of ${upstream} reached ${step.upstream}`, scene)
      } else if (
        !scenes.slice(before + 1, at + 1).some(({ step: { edit } }) => edit !== 'nothing') &&
        scenes[before]!.step.answer.end === 'stop' &&
        isBeforeCall(answer.said, one)
      ) {
        if (!got.includes(one.proof)) fail(`${one.proof} of ${upstream} did not come back`, scene)
      }
    }
  }
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const isBeforeCall = (said: readonly Said[], thought: Said): boolean =>
  said.slice(said.indexOf(thought) + 1).some(({ type }) => type === 'call')

/** The caller gets everything that the model said once and in order. */
function checkAnswer(caller: string, talk: Talk, scene: Scene): void {
  const { step, echoed, calls, answered } = scene
  const wanted = step.answer.said
  const text = JSON.stringify(echoed).replace(/aWw6[\w+/=]*/g, '')
  const got = marksIn(text)
  void answered
  for (const one of wanted)
    for (const mark of markOf(one)) {
      const found = got.filter(each => each === mark).length
      if (found === 1) continue
      if ((one.type === 'thought' && step.upstream === 'chat') || step.answer.end === 'refused') continue
      fail(`the caller got ${mark} ${found} times`, scene)
    }
  const spoken = got.filter(mark => /Text|Call/.test(mark))
  const said = wanted.filter(({ type }) => type !== 'thought').flatMap(markOf)
  const inOrder = (list: readonly string[]) => (BARE.has(caller) ? [...list].sort() : list)
  if (step.answer.end !== 'refused' && inOrder(spoken).join() !== inOrder(said).join())
    fail(`the caller got ${spoken} instead of ${said}`, scene)
  const called = wanted.filter(one => one.type === 'call')
  if (calls.length !== called.length) fail(`${calls.length} calls instead of ${called.length}`, scene)
  for (const [at, one] of called.entries()) {
    if (calls[at]!.name !== talk.tools[one.tool])
      fail(`call of ${calls[at]!.name} instead of ${talk.tools[one.tool]}`, scene)
    if (calls[at]!.args.q !== one.mark) fail(`arguments ${JSON.stringify(calls[at]!.args)}`, scene)
  }
  if (new Set(calls.map(({ id }) => id)).size < calls.filter(({ id }) => id !== undefined).length)
    fail('ids of calls are doubled', scene)
}

/** Whether a turn goes on with more content, as where the model said nothing between two of the user. */
function isBeginning(old: Loose, now: Loose): boolean {
  const [one, other] = [old, now].map(({ content, parts }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? parts),
  )
  if (old.role !== now.role || !Array.isArray(one) || !Array.isArray(other)) return false
  return one.every((part, at) => JSON.stringify(part) === JSON.stringify(other[at]))
}

const TURNS = ['messages', 'input', 'contents'] as const

/** The last request to the same upstream is the beginning of this one. */
function checkPrefix(scenes: readonly Scene[], at: number): void {
  const scene = scenes[at]!
  const before = scenes.slice(0, at).findLastIndex(({ step }) => step.upstream === scene.step.upstream)
  if (before < 0 || scenes.slice(before + 1, at + 1).some(({ edited }) => edited)) return
  const [old, now] = [scenes[before]!.heard!.body, scene.heard!.body]
  const field = TURNS.find(one => old[one] !== undefined)!
  const thinking = {
    thinking: undefined,
    output_config: undefined,
    outputConfig: undefined,
    additionalModelRequestFields: undefined,
    inferenceConfig: undefined,
    max_tokens: undefined,
  }
  const head = (body: Loose) =>
    JSON.stringify({ ...body, ...thinking, [field]: undefined, stream: undefined, stream_options: undefined })
  if (head(old) !== head(now)) fail(`head changed: ${head(old)} => ${head(now)}`, scene)
  const last = old[field].length - 1
  for (const [index, turn] of old[field].entries())
    if (index === last && isBeginning(turn, now[field][index])) continue
    else if (JSON.stringify(turn) !== JSON.stringify(now[field][index]))
      fail(`turn ${index} changed: ${JSON.stringify(turn)} => ${JSON.stringify(now[field][index])}`, scene)
}
