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

/**
 * Of the ratios an upstream has, the one nearest to a size in pixels or to another ratio.
 *
 * @param look `1280x720` or `16:9`; undefined is the answer for any other word.
 */
export function nearestRatio(look: string, ratios: readonly string[]): string | undefined {
  const pixels = pixelsOf(look)
  const wanted = pixels === undefined ? quotientOf(look) : pixels[0] / pixels[1]
  if (wanted === undefined) return undefined
  const far = (ratio: string): number => Math.abs(Math.log(quotientOf(ratio)! / wanted))
  return ratios.toSorted((a, b) => far(a) - far(b))[0]
}

/** Of the sizes in pixels an upstream has, the one nearest in shape to a ratio; undefined for what is no ratio. */
export function nearestSize(ratio: string, sizes: readonly string[]): string | undefined {
  const wanted = quotientOf(ratio)
  if (wanted === undefined) return undefined
  const far = (size: string): number => {
    const [width, height] = pixelsOf(size)!
    return Math.abs(Math.log(width / height / wanted))
  }
  return sizes.toSorted((a, b) => far(a) - far(b))[0]
}
