/** Parses a size in pixels, such as `1280x720`. Returns undefined for any other text. */
export function pixelsOf(size: string | undefined): readonly [width: number, height: number] | undefined {
  const [, width, height] = /^(\d{1,5})[x×*](\d{1,5})$/i.exec(size ?? '') ?? []
  return Number(width) > 0 && Number(height) > 0 ? [Number(width), Number(height)] : undefined
}

/** Parses a ratio such as `16:9` and returns width divided by height. Returns undefined for any other text. */
function valueOfRatio(ratio: string): number | undefined {
  const [, width, height] = /^(\d{1,5}):(\d{1,5})$/.exec(ratio) ?? []
  return Number(width) > 0 && Number(height) > 0 ? Number(width) / Number(height) : undefined
}

/** Returns width divided by height of a size or ratio. */
function shapeOf(shape: string): number | undefined {
  const pixels = pixelsOf(shape)
  return pixels === undefined ? valueOfRatio(shape) : pixels[0] / pixels[1]
}

/**
 * Returns the ratio or size whose shape is nearest to the wanted one.
 *
 * @param shape the wanted shape, such as `1280x720` or `16:9`. For any other text, the function returns undefined.
 * @param ratios the ratios or sizes that the upstream supports.
 */
export function nearestRatio(shape: string, ratios: readonly string[]): string | undefined {
  const wantedShape = shapeOf(shape)
  if (wantedShape === undefined) return undefined
  const distance = (one: string): number => Math.abs(Math.log(shapeOf(one)! / wantedShape))
  return ratios.toSorted((a, b) => distance(a) - distance(b))[0]
}

/** Returns the size in pixels whose shape is nearest to a ratio, or undefined if `ratio` is not a ratio. */
export const nearestSize = (ratio: string, sizes: readonly string[]): string | undefined =>
  valueOfRatio(ratio) === undefined ? undefined : nearestRatio(ratio, sizes)
