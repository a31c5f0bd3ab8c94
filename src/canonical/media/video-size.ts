/** Width and height of a size in pixels, `1280x720`; undefined for any other word. */
export function pixelsOf(size: string | undefined): readonly [width: number, height: number] | undefined {
  const [, width, height] = /^(\d{1,5})[x×*](\d{1,5})$/i.exec(size ?? '') ?? []
  return Number(width) > 0 && Number(height) > 0 ? [Number(width), Number(height)] : undefined
}

/** Width divided by height of a ratio, `16:9`; undefined for any other word. */
function quotientOf(ratio: string): number | undefined {
  const [, width, height] = /^(\d{1,5}):(\d{1,5})$/.exec(ratio) ?? []
  return Number(width) > 0 && Number(height) > 0 ? Number(width) / Number(height) : undefined
}

/** The shape of one of these words: width divided by height. */
function shapeOf(look: string): number | undefined {
  const pixels = pixelsOf(look)
  return pixels === undefined ? quotientOf(look) : pixels[0] / pixels[1]
}

/**
 * Of the ratios an upstream has, the one nearest to a size in pixels or to another ratio.
 *
 * @param look `1280x720` or `16:9`; undefined is the answer for any other word.
 */
export function nearestRatio(look: string, ratios: readonly string[]): string | undefined {
  const wanted = shapeOf(look)
  if (wanted === undefined) return undefined
  const far = (one: string): number => Math.abs(Math.log(shapeOf(one)! / wanted))
  return ratios.toSorted((a, b) => far(a) - far(b))[0]
}

/** Of the sizes in pixels an upstream has, the one nearest in shape to a ratio; undefined for what is no ratio. */
export const nearestSize = (ratio: string, sizes: readonly string[]): string | undefined =>
  quotientOf(ratio) === undefined ? undefined : nearestRatio(ratio, sizes)
