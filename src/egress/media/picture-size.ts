import type { Losses } from '../../canonical/loss.ts'

/** The sizes that all of OpenAI's models generate. */
const SIZES = ['1024x1024', '1536x1024', '1024x1536']

/**
 * A size in pixels or a format's own value stays; a ratio (`16:9`, maybe followed by `2K`) becomes the nearest size.
 */
export function sizeInPixels(size: string | undefined, losses: Losses): string | undefined {
  if (size === undefined) return undefined
  const [, width, height] = /^(\d+):(\d+)(?: .*)?$/.exec(size) ?? []
  if (!(Number(width) > 0) || !(Number(height) > 0)) return size
  const wanted = Math.log(Number(width) / Number(height))
  const far = (one: string): number => {
    const [w, h] = one.split('x').map(Number) as [number, number]
    return Math.abs(Math.log(w / h) - wanted)
  }
  const nearest = SIZES.toSorted((a, b) => far(a) - far(b))[0]!
  losses.change(['output', 'image', 'size'], nearest, 'nearest-size')
  return nearest
}
