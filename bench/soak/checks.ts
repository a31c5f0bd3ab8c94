import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreConfig } from '../../src/config/index.ts'
import { openStore } from '../../src/store/store.ts'
import { KEY } from '../configs.ts'
import type { Finished } from './callers.ts'
import { medianBetween, type Sample } from './readings.ts'

/** One statement that must be true at the end. */
export interface Check {
  readonly name: string
  readonly passed: boolean
  readonly detail: string
}

const check = (name: string, passed: boolean, detail: string): Check => ({ name, passed, detail })

/**
 * Growth between the second quarter of the time and the last one that is no leak: of the memory, which V8 and the
 * allocator give back late, and of the heap after a collection.
 */
const GROWTH = { rss: 1.3, heap: 1.15 }
const HEAP_GROWTH_MB = 10
/** Descriptors of connections that are kept open. */
const KEPT_OPEN = 60

/** Checks that nothing grows while the load stays the same, and that everything is given back at the end. */
export function checkResources(samples: readonly Sample[], idleBefore: Sample, idleAfter: Sample): Check[] {
  const mediansOf = (name: 'rss' | 'heap') =>
    [medianBetween(samples, name, 0.25, 0.5), medianBetween(samples, name, 0.75, 1)] as const
  const [rss, lateRss] = mediansOf('rss')
  const [heap, lateHeap] = mediansOf('heap')
  const mb = (value: number): string => `${value.toFixed(1)} MB`
  return [
    check('resident memory stays', lateRss <= rss * GROWTH.rss, `${mb(rss)} then ${mb(lateRss)}`),
    check('the heap stays', lateHeap <= heap * GROWTH.heap + HEAP_GROWTH_MB, `${mb(heap)} then ${mb(lateHeap)}`),
    check(
      'descriptors are closed',
      idleAfter.descriptors <= idleBefore.descriptors + KEPT_OPEN,
      `${idleBefore.descriptors} before, ${idleAfter.descriptors} after`,
    ),
  ]
}

/** Longest median of the event-loop delay, in milliseconds. */
const DELAY = 50

/** @param isBusy whether the machine does other work, which holds up the event loop, too. */
export function checkDelay(samples: readonly Sample[], isBusy: boolean): Check {
  const delay = medianBetween(samples, 'delay', 0, 1)
  return check('the event loop is not held up', isBusy || delay < DELAY, `${delay.toFixed(1)} ms at the median`)
}

/** Results of all streams. Of each stream, only its ids are kept. */
export class Tally {
  readonly endings = { whole: 0, failed: 0, abandoned: 0, wrong: 0 }
  readonly ids: string[] = []
  readonly stored: string[] = []
  /** Streams that their callers left before the head of an answer, whose ids are unknown. */
  unseen = 0
  readonly wrong: Finished[] = []

  add(finished: Finished): void {
    const { ending, id, stored, kind } = finished
    this.endings[ending]++
    if (id === undefined) this.unseen++
    else this.ids.push(id)
    if (stored !== undefined) this.stored.push(stored)
    if (ending === 'wrong' && this.wrong.length < 20) this.wrong.push(finished)
    if (kind.mode === 'cut' && ending === 'whole') this.wrong.push(finished)
  }

  get total(): number {
    return this.ids.length + this.unseen
  }
}

export const checkEndings = ({ endings, wrong }: Tally): Check =>
  check(
    'each stream ends whole or with an error of its format',
    endings.wrong === 0 && wrong.length === 0,
    [
      Object.entries(endings)
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
      ...wrong.slice(0, 5).map(({ kind, id, text }) => `${JSON.stringify(kind)} ${id}: …${text.slice(-300)}`),
    ].join('\n    '),
  )

/** Rows of one page of usage. */
const PAGE = 500

/** Checks that usage has exactly one row for each request, and that its sums agree. */
export async function checkUsage(config: StoreConfig, tally: Tally, since: number): Promise<Check[]> {
  const store = await openStore(config)
  try {
    const all = { since, until: Date.now() + 1000 }
    const rows = new Map<string, number>()
    let after: string | undefined
    do {
      const page = await store.usage.rows({ ...all, limit: PAGE, ...(after === undefined ? {} : { after }) })
      for (const { id } of page.rows) rows.set(id, (rows.get(id) ?? 0) + 1)
      after = page.next
    } while (after !== undefined)
    const count = [...rows.values()].reduce((sum, value) => sum + value, 0)
    const missing = tally.ids.filter(id => !rows.has(id))
    const sums = await store.usage.sums({ ...all, by: [], limit: 100 })
    const summed = sums.reduce((sum, { requests }) => sum + requests, 0)
    return [
      check(
        'usage has each answered request',
        missing.length === 0,
        `${missing.length} of ${tally.ids.length} are missing ${missing.slice(0, 3)}`,
      ),
      check(
        'usage has each request once',
        rows.size === count && count >= tally.ids.length && count <= tally.total,
        `${count} rows for ${tally.ids.length} answered and ${tally.unseen} abandoned requests`,
      ),
      check('sums agree with the rows', summed === count, `${summed} in the sums`),
    ]
  } finally {
    await store.close()
  }
}

/** Checks that the latest responses that were acknowledged as stored are there. */
export async function checkStored(origin: string, stored: readonly string[]): Promise<Check> {
  let lost = 0
  const some = stored.filter((_, index) => index % Math.ceil(stored.length / 500) === 0)
  for (const id of some) {
    const answer = await fetch(`${origin}/v1/responses/${id}`, { headers: { authorization: `Bearer ${KEY}` } })
    if (!answer.ok) lost++
    await answer.arrayBuffer()
  }
  return check(
    'responses said to be stored are stored',
    some.length > 0 && lost === 0,
    `${lost} of ${some.length} are lost`,
  )
}

/** Waits until the gateway has written what it still holds. */
export const settled = (): Promise<void> => sleep(8000)
