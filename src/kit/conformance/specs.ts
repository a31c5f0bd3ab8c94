import { baseFormatOf, type Format, type Headers } from './format.ts'
import { FORMATS } from './formats/index.ts'

/** Version by format. Formats that share a base URL have the same version. */
export interface Specs {
  readonly [format: string]: string
}

/** Versions of each format that has versions, from oldest to newest. */
const FORMAT_VERSIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(FORMATS).flatMap(({ name, sharesBaseWith = name, versions }) =>
    versions === undefined || sharesBaseWith !== name ? [] : [[name, versions.names]],
  ),
)

/** Default versions of a run. */
export const DEFAULT_SPECS: Specs = Object.fromEntries([...FORMAT_VERSIONS].map(([name, [first]]) => [name, first!]))

/**
 * Parses `messages@2026-10-21`, or several of these separated by commas. Throws if the format or version is unknown.
 */
export function specsIn(text: string): Specs {
  const specs: { [format: string]: string } = {}
  for (const part of text.split(',')) {
    const [format = '', version, more] = part.split('@')
    if (!version || more !== undefined) throw new Error(`Expected FORMAT@VERSION instead of ${part}.`)
    const formatVersions = FORMAT_VERSIONS.get(format)
    if (formatVersions === undefined)
      throw new Error(`The kit has no versions of ${format}, only of ${[...FORMAT_VERSIONS.keys()].join(', ')}.`)
    if (!formatVersions.includes(version))
      throw new Error(`The kit has no version ${version} of ${format} (${formatVersions.join(', ')}).`)
    if (format in specs) throw new Error(`${format} has two versions.`)
    specs[format] = version
  }
  return specs
}

/** Returns the version of a format in a run, if the format has versions. */
export const versionOf = (format: Format, specs: Specs = {}): string | undefined =>
  format.versions && (specs[baseFormatOf(format)] ?? format.versions.names[0])

/** Returns a client's headers for the version of the run. */
export function clientHeaders(format: Format, key: string, specs?: Specs): Headers {
  const version = versionOf(format, specs)
  return version === undefined ? format.headers(key) : format.versions!.headers(version, key)
}
