import { type GatewayError, inexpressible } from '../canonical/error.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { CanonicalRequest, State } from '../canonical/request.ts'
import { lists, workOf } from '../canonical/work.ts'
import { essentialTools } from './essential-tools.ts'

const MOST_ENTRIES = 20
const MOST_CHARACTERS = 1000

/**
 * The losses a caller sees: neither those undone on the response path, nor neutral values generated for a format that
 * requires them, whose reasons begin with `minted`.
 */
export const shown = (losses: readonly Loss[]): readonly Loss[] =>
  losses.every(isSilent) ? NO_LOSSES : losses.filter(loss => !isSilent(loss))

const NO_LOSSES: readonly Loss[] = []

/** The losses for which a request with losses refused is rejected: those shown that cost the caller something. */
export const refusable = (losses: readonly Loss[]): readonly Loss[] =>
  shown(losses).filter(({ reason }) => !HARMLESS.has(reason))

/** The reason for a thought that the caller had discarded and the gateway inserted again. */
export const REMEMBERED = 'remembered-thought'

/** The reason for a limit of the answer that no answer of the model can reach beyond. */
export const LONGEST = 'most-the-model-answers'

/**
 * Reasons for differences that are shown but take nothing from a request: the model's own text is returned to it, or
 * no answer could be longer.
 */
const HARMLESS: ReadonlySet<string> = new Set([REMEMBERED, LONGEST])

const isSilent = (loss: Loss): boolean =>
  loss.restored === true || (loss.kind === 'added' && loss.reason.startsWith('minted'))

/** Whether a difference is something that the gateway added: what the caller sent is all there. */
export const isAddition = ({ kind }: Loss): boolean => kind === 'added' || kind === 'inserted'

/** The losses without what was added. */
export const withoutAdditions = (losses: readonly Loss[]): readonly Loss[] => losses.filter(loss => !isAddition(loss))

/**
 * The headers that report losses: `interlingua-loss`, a list of `path reason` separated by `; ` and truncated where it
 * is long; `interlingua-loss-count`, always exact; and `interlingua-added`, such a list of what was added, which is no
 * loss. No headers without losses or additions.
 *
 * @param reported those that are `shown`.
 * @param locate gives paths of canonical requests in the caller's body.
 */
export function lossHeaders(
  reported: readonly Loss[],
  locate: (path: Path) => Path = path => path,
): { readonly [name: string]: string } {
  if (reported.length === 0) return {}
  const added = reported.filter(isAddition)
  const lost = added.length === 0 ? reported : withoutAdditions(reported)
  return {
    ...(lost.length === 0
      ? {}
      : { 'interlingua-loss': listed(lost, locate), 'interlingua-loss-count': String(lost.length) }),
    ...(added.length === 0 ? {} : { 'interlingua-added': listed(added, locate) }),
  }
}

function listed(losses: readonly Loss[], locate: (path: Path) => Path): string {
  let list = ''
  let entries = 0
  for (const { path, reason } of losses) {
    const entry = `${locate(path)
      .map(step => headerSafe(String(step)))
      .join('/')} ${headerSafe(reason)}`
    if (entries === MOST_ENTRIES || list.length + entry.length > MOST_CHARACTERS) break
    list += entries === 0 ? entry : `; ${entry}`
    entries++
  }
  return list
}

/**
 * The losses no answer can make up for: state the upstream cannot keep, a part that refers to something stored
 * elsewhere, media in the last user turn or in any of a list of inputs, the video to change, what a transcript needs
 * besides text, tools without which it is another conversation (`essential-tools.ts`), and the container of speech. A request with one of them is always refused.
 */
export function essential(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  const turn = request.messages.findLastIndex(message => message.role === 'user')
  const tools = new Set(essentialTools(losses, request))
  return losses.filter(
    loss =>
      tools.has(loss) ||
      losesContainer(loss, request) ||
      (loss.kind === 'dropped' &&
        (losesState(loss, request) ||
          losesSight(loss, request, turn) ||
          losesReference(loss, request) ||
          losesRemix(loss) ||
          losesTimes(loss, request))),
  )
}

const isOfThread = ({ path }: Loss): boolean => path[0] === 'state' && path[1] === 'thread'

/**
 * The refusal that names every loss, 422 in each format. For a thread it has its own code, at which clients send the
 * whole conversation again (trap 94).
 *
 * @param located the same losses with paths into the caller's body.
 */
export function refusal(losses: readonly Loss[], located: readonly Loss[] = losses): GatewayError {
  if (losses.some(isOfThread)) return inexpressible(NO_THREADS, 'thread', 'thread_unsupported_request')
  const list = located.map(loss => `${loss.path.join('/')} (${loss.reason})`).join(', ')
  const message = `The model's upstream cannot carry everything in this request. What would be lost: ${list}.`
  const [only, ...others] = located
  return inexpressible(message, others.length === 0 ? only?.path.join('.') : undefined, 'cannot_express')
}

const NO_THREADS = "The model's upstream keeps no threads. Send the whole conversation without `thread`."

/** Audio in another container than the requested one is useless to the client that has to play it. */
const losesContainer = ({ kind, path, restored }: Loss, request: CanonicalRequest): boolean =>
  (kind === 'dropped' || kind === 'changed') &&
  restored !== true &&
  path.join('/') === 'output/audio/mediaType' &&
  workOf(request) === 'speech'

/**
 * The settings of the state that request something: losing `store: false` or `background: false` loses nothing, and a
 * copy that chat has stored is for the publisher's dashboard, not for later requests.
 */
const REQUESTED: { readonly [K in keyof State]-?: (value: State[K], request: CanonicalRequest) => boolean } = {
  store: (value, request) => value === true && !storesCopy(request),
  previous: value => value !== undefined,
  conversation: value => value !== undefined,
  background: value => value === true,
  thread: value => value !== undefined,
}

const storesCopy = ({ spelling = {} }: CanonicalRequest): boolean =>
  Object.values(spelling).some(one => one['storesCopy'] === true)

function losesState({ path }: Loss, request: CanonicalRequest): boolean {
  const { state } = request
  if (state === undefined || path[0] !== 'state') return false
  const requested = Object.entries(REQUESTED)
    .filter(([field, asks]) => (asks as (...of: unknown[]) => boolean)(state[field as keyof State], request))
    .map(([field]) => field)
  return path.length === 1 ? requested.length > 0 : requested.includes(String(path[1]))
}

/**
 * Whether the loss is of the whole turn, of a part of it, or of the media the part shows. In a conversation only the
 * last turn counts, in a list of inputs each.
 */
function losesSight({ path, restored }: Loss, request: CanonicalRequest, turn: number): boolean {
  const at = lists(request) ? path[1] : turn
  if (restored === true || path[0] !== 'messages' || path[1] !== at) return false
  const content = request.messages[Number(at)]?.content ?? []
  if (path.length <= 3) return content.some(isSight)
  const part = content[Number(path[3])]
  return part !== undefined && isSight(part) && (path.length === 4 || (path.length === 5 && path[4] === 'source'))
}

function losesReference({ path }: Loss, request: CanonicalRequest): boolean {
  if (path[0] !== 'messages' || path.length !== 4) return false
  const part = request.messages[Number(path[1])]?.content[Number(path[3])]
  return part?.type === 'opaque' && part.reference === true
}

const losesRemix = ({ path }: Loss): boolean => path.join('/') === 'output/video/remixOf'

/** Fields of a transcript besides its text: they determine the shape of the answer. */
const losesTimes = ({ path }: Loss, { output: { transcript } }: CanonicalRequest): boolean =>
  transcript !== undefined && path.length === 3 && path[1] === 'transcript' && TIMES.has(path[2]!)

const TIMES: ReadonlySet<string | number> = new Set(['task', 'timestamps', 'speakers'])

const isSight = (part: { readonly type: string }): boolean => part.type === 'media' || part.type === 'opaque'

/** Names come from callers: characters that could end a header, an entry or a path element are percent-encoded. */
const headerSafe = (text: string): string => text.toWellFormed().replace(/[^!-~]|[%;/]/gu, encodeURIComponent)
