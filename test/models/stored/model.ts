/** Whether a response has ended, and how. */
export const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** One response as the model remembers it. */
export interface Response {
  readonly id: string
  readonly owner: string
  /** Number of the process that makes it. */
  readonly process: number
  readonly previous: Response | undefined
  readonly isInConversation: boolean
  /** Ids of its items: its input, and the output so far. */
  readonly input: string
  readonly output: string[]
  /** Whether its upstream finished the answer. */
  isWhole: boolean
  /** Whether its work has ended: nothing more comes of it. */
  isOver: boolean
  /** The end that somebody was shown. It never changes. */
  end: { readonly status: string; readonly output: readonly string[] } | undefined
  /** Whether somebody was told that it is deleted, or a deletion failed so that it may be. */
  deletion: 'done' | 'maybe' | undefined
  /** Whether the caller was told that it is stored. */
  isStored: boolean
}

/** What somebody is shown of a response. */
export interface Shown {
  readonly status: string
  readonly output: readonly string[]
}

/** All responses of two owners, made by two processes. */
export class StoredModel {
  readonly responses: Response[] = []
  readonly dead = new Set<number>()
  count = 0

  /** Returns the response that a number chooses. */
  chosen(which: number): Response | undefined {
    return this.responses[which % Math.max(1, this.responses.length)]
  }

  /** Returns the unfinished work that a number chooses, of a process that lives. */
  working(which: number): Response | undefined {
    const open = this.responses.filter(({ isOver, process }) => !isOver && !this.dead.has(process))
    return open[which % Math.max(1, open.length)]
  }

  /** Ids of the items of a response and of all that it continues, oldest first. Undefined if one may be deleted. */
  history(response: Response): readonly string[] | undefined {
    if (response.deletion !== undefined) return undefined
    const before = response.previous === undefined ? [] : this.history(response.previous)
    return before && [...before, response.input, ...(response.end?.output ?? response.output)]
  }
}

/**
 * Says what is wrong with what an owner is shown of a response, and remembers an end. Undefined if it is right.
 *
 * @param process number of the process that shows it. The one that works on it learns a little later that another one
 * ended it.
 * @param shown undefined if it is said to be unknown.
 */
export function faultOf(
  response: Response,
  process: number,
  owner: string,
  shown: Shown | undefined,
): string | undefined {
  if (shown === undefined) {
    const mayBeUnknown = owner !== response.owner || response.deletion !== undefined || !response.isStored
    return mayBeUnknown ? undefined : 'a stored response is unknown'
  }
  if (owner !== response.owner) return 'another owner sees it'
  const { end, isWhole, output } = response
  if (!ENDS.has(shown.status) && process === response.process && !response.isOver) return undefined
  if (response.deletion === 'done') return 'it was deleted'
  if (end !== undefined) return isSame(end, shown) ? undefined : `it had ended otherwise: ${JSON.stringify(end)}`
  if (!ENDS.has(shown.status)) return undefined
  if (shown.status === 'completed' && !isWhole) return 'it is completed before its end'
  if (shown.status === 'completed' && shown.output.join() !== output.join()) return 'its output is not whole'
  response.end = shown
  return undefined
}

const isSame = (one: Shown, other: Shown): boolean =>
  one.status === other.status && one.output.join() === other.output.join()
