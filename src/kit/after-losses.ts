import type { Loss, Path } from '../canonical/loss.ts'

/**
 * Maps a path in the original value to its path after `lose()`: indexes shift down for dropped items before it and up
 * for inserted ones. Returns undefined for a dropped path.
 */
export function pathAfterLosses(path: Path, losses: readonly Loss[]): Path | undefined {
  const after: (string | number)[] = []
  for (const [depth, step] of path.entries()) {
    if (typeof step !== 'number') {
      after.push(step)
      continue
    }
    const list = path.slice(0, depth)
    const here = losses.filter(loss => isBelow(loss, list))
    const isInsertion =
      depth === path.length - 1 && here.some(({ kind, path }) => kind === 'inserted' && path[depth] === step)
    const newIndex = indexAfter(step, here, depth, isInsertion)
    if (newIndex === undefined) return undefined
    after.push(newIndex)
  }
  return after
}

/** Whether the loss moves the list, or drops, changes or inserts one of its items. */
const isBelow = ({ path, kind }: Loss, list: Path): boolean =>
  path.length === list.length + (kind === 'moved' ? 0 : 1) && list.every((step, index) => step === path[index])

/** Maps one list index to its index after the losses; undefined if the item was dropped. */
function indexAfter(index: number, losses: readonly Loss[], depth: number, isInsertion: boolean): number | undefined {
  const order = losses.find(({ kind }) => kind === 'moved') as { readonly order: readonly number[] } | undefined
  const rank = (at: number): number => order?.order.indexOf(at) ?? at
  const dropped = losses.filter(({ kind }) => kind === 'dropped').map(({ path }) => Number(path[depth]))
  if (!isInsertion && dropped.includes(index)) return undefined
  const inserted = losses.filter(({ kind }) => kind === 'inserted').map(({ path }) => Number(path[depth]))
  const before = inserted.filter(at => (isInsertion ? at < index : at <= index)).length
  const base = isInsertion ? index : rank(index)
  return base - dropped.filter(at => rank(at) < base).length + before
}
