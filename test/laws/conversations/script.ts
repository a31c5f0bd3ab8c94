import fc from 'fast-check'

/* Whole conversations: what users say, what the models of several vendors answer, and what the caller's program does. */

/** A piece of a model's answer. Every text has a mark of its own. */
export type Said =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string; readonly proof: string; readonly hidden?: true }
  | { readonly type: 'call'; readonly id: string; readonly tool: number; readonly mark: string }

export type End = 'stop' | 'length' | 'refused'

export interface Answer {
  readonly said: readonly Said[]
  readonly end: End
}

/** Change that the caller's program makes to its history before it asks. */
export type Edit = 'nothing' | 'drops-oldest' | 'drops-reasoning' | 'skips-results'

/** A document with a name that others may have, too. */
export interface File {
  readonly name: string
  readonly type: 'application/pdf' | 'text/plain'
  /** Bytes that no other file has, in base64. */
  readonly data: string
}

export interface Step {
  readonly upstream: string
  readonly stream: boolean
  /** Text of the user, who may say nothing behind results of tools. */
  readonly user?: string
  readonly image?: true
  /** File beside the text of the user. */
  readonly file?: File
  /** Picture that the first result shows, beside its text. */
  readonly picture?: string
  /** File that the first result shows, beside its text. */
  readonly shownFile?: File
  /** Whether the program returns the results in another order than that of the calls. */
  readonly reversed: boolean
  readonly results: readonly string[]
  readonly answer: Answer
  readonly edit: Edit
}

export interface Talk {
  readonly rules?: string
  readonly tools: readonly string[]
  readonly steps: readonly Step[]
}

const FRAMES: readonly ((mark: string) => string)[] = [
  mark => mark,
  mark => `  ${mark}`,
  mark => `${mark} end \n`,
  mark => `ünï😀 ${mark}\n\n"q"\\`,
  mark => `{"a":"${mark}"}`,
  mark => `<think>${mark}</think>`,
]

const TOOLS = ['get_time', 'mcp__srv__do', 'weather.lookup', 'a b/c', 'longer'.repeat(14), 'ünï', '1st', 'get-time']

/** Formats in whose answers a thought may stand anywhere, and those with texts behind calls. */
const MIXED: ReadonlySet<string> = new Set(['messages', 'responses', 'contents', 'vertex', 'converse', 'interactions'])

/** Returns the name of an upstream, without that of its second account. */
const kindOf = (upstream: string): string => upstream.replace(/-b$/, '')

const kinds = (upstream: string) =>
  MIXED.has(kindOf(upstream))
    ? fc.array(fc.constantFrom('text', 'thought', 'call', 'call', 'hidden'), { maxLength: 5 })
    : fc
        .tuple(fc.boolean(), fc.boolean(), fc.nat(3))
        .map(([thinks, talks, calls]) => [
          ...(thinks ? ['thought'] : []),
          ...(talks ? ['text'] : []),
          ...Array<string>(calls).fill('call'),
        ])

const end = fc.constantFrom<End>('stop', 'stop', 'stop', 'stop', 'length', 'refused')
const edit = fc.constantFrom<Edit>('nothing', 'nothing', 'nothing', 'nothing', 'drops-oldest', 'drops-reasoning')
const fileKind = fc.option(
  fc.record({
    name: fc.constantFrom('notes', 'notes', 'Report  (2).final', 'ünï_ß'),
    type: fc.constantFrom<File['type']>('application/pdf', 'text/plain'),
  }),
  { nil: undefined, freq: 3 },
)
const drawn = (upstream: string) =>
  fc.record({
    upstream: fc.constant(upstream),
    stream: fc.boolean(),
    kinds: kinds(upstream),
    frames: fc.array(fc.nat(FRAMES.length - 1), { minLength: 8, maxLength: 8 }),
    tool: fc.nat(2),
    end,
    edit,
    speaks: fc.boolean(),
    image: fc.constantFrom(true, false, false, false),
    shows: fc.constantFrom(true, false, false),
    file: fileKind,
    shownFile: fileKind,
    restartIds: fc.boolean(),
    reversed: fc.boolean(),
  })

const number = (at: number): string => String(at).padStart(3, '0')

/** Ids as the upstreams of each format write them. */
const ID: { readonly [upstream: string]: (at: number) => string } = {
  chat: at => `call_${at}`,
  'chat-r': at => `functions.f:${at}`,
  messages: at => `toolu_01A${at}`,
  responses: at => `call_r${at}`,
  contents: at => (at % 2 === 0 ? '' : `gem${at}`),
  vertex: () => '',
  converse: at => `tooluse_a-B${at}`,
  'cohere-chat': at => `f_${at}`,
  interactions: at => `ic_${at}`,
}

/** Returns the bytes of a picture, in base64, that no other picture has. */
const pictureOf = (mark: string): string => Buffer.from(`\x89PNG\r\n\x1a\n picture ${mark} `).toString('base64')

const EXTENSION = { 'application/pdf': 'pdf', 'text/plain': 'txt' } as const

/** Returns a file with bytes that no other file has. */
function fileOf(kind: Omit<File, 'data'>, mark: string): File {
  const text =
    kind.type === 'application/pdf' ? `%PDF-1.4\n% document ${mark}\n%%EOF` : `Line of document ${mark}, ü.\n`
  return { type: kind.type, name: `${kind.name}.${EXTENSION[kind.type]}`, data: Buffer.from(text).toString('base64') }
}

type Drawn =
  fc.Arbitrary<ReturnType<typeof drawn> extends fc.Arbitrary<infer T> ? T : never> extends fc.Arbitrary<infer T>
    ? T
    : never

/** Number of marks of one conversation. */
const MARKS = 300

function stepsOf(list: readonly Drawn[], lane: number): readonly Step[] {
  let count = lane * MARKS
  let openCalls = 0
  // The gateway refuses files of the latest turn where the upstream's format has none.
  const takesFiles = list.every(({ upstream }) => upstream !== 'cohere-chat')
  const steps: Step[] = []
  for (const one of list) {
    const at = () => number(++count)
    const frame = (index: number, mark: string): string => FRAMES[one.frames[index % 8]!]!(mark)
    const results = Array.from({ length: openCalls }, () => `Resl${at()}`)
    const speaks = one.speaks || results.length === 0
    const user = speaks ? frame(7, `User${at()}`) : undefined
    let calls = 0
    const said = one.kinds.map((kind, index): Said => {
      if (kind === 'text') return { type: 'text', text: frame(index, `Text${at()}`) }
      if (kind === 'call') {
        const id = ID[kindOf(one.upstream)]!(one.restartIds ? calls : count)
        return { type: 'call', id, tool: (one.tool + calls++) % 3, mark: `Call${at()}` }
      }
      const hidden = kind === 'hidden' && ['messages', 'converse'].includes(kindOf(one.upstream))
      return {
        type: 'thought',
        text: hidden ? '' : frame(index, `Thot${at()}`),
        proof: `Proof${at()}`,
        ...(hidden ? { hidden } : {}),
      }
    })
    openCalls = calls
    steps.push({
      ...{ upstream: one.upstream, stream: one.stream, results, edit: one.edit, reversed: one.reversed },
      answer: answerOf(withoutThoughtsInARow(said, one.upstream), one.end),
      ...(user === undefined ? {} : { user }),
      ...(one.image && user !== undefined ? { image: true } : {}),
      ...(takesFiles && one.file !== undefined && user !== undefined ? { file: fileOf(one.file, at()) } : {}),
      ...(one.shows && results.length > 0 ? { picture: pictureOf(at()) } : {}),
      ...(takesFiles && one.shownFile !== undefined && results.length > 0
        ? { shownFile: fileOf(one.shownFile, at()) }
        : {}),
    })
  }
  return steps
}

/** A thought is the last only where the answer was cut, and an answer with calls ends with them. */
function answerOf(said: readonly Said[], end: End): Answer {
  const calls = hasCall(said)
  if (end === 'length' && !calls) return { said, end }
  const last = said.findLastIndex(({ type }) => type !== 'thought')
  return { said: said.slice(0, last + 1), end: calls ? 'stop' : end }
}

/** No answer of Google's has two thoughts in a row, or one between calls. */
const withoutThoughtsInARow = (said: readonly Said[], upstream: string): readonly Said[] =>
  ['contents', 'vertex', 'interactions'].includes(kindOf(upstream))
    ? said.filter(
        (one, at) => one.type !== 'thought' || (said[at - 1]?.type !== 'thought' && !hasCall(said.slice(0, at))),
      )
    : said

const hasCall = (said: readonly Said[]): boolean => said.some(({ type }) => type === 'call')

/** @param lane number of the conversation among those that run at once, for marks of its own */
export const talks = (upstreams: readonly string[], lane = 0): fc.Arbitrary<Talk> =>
  fc
    .tuple(
      fc.option(fc.constant('Rule000 be kind.'), { nil: undefined }),
      fc.shuffledSubarray(TOOLS, { minLength: 3, maxLength: 3 }),
      fc.array(fc.constantFrom(...upstreams).chain(drawn), { minLength: 2, maxLength: 5 }),
    )
    .map(([rules, tools, list]) => ({ ...(rules === undefined ? {} : { rules }), tools, steps: stepsOf(list, lane) }))

/** Marks in a text, in order. */
export const marksIn = (text: string): string[] => text.match(/(?:Text|Thot|Call|Resl|User|Rule|Proof)\d{3}/g) ?? []
