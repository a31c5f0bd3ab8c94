import type { Format } from '../canonical/node.ts'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import { URL_VERSION } from './formats.ts'
import type { Preset } from './preset.ts'

/*
 * Base URLs of vendors that serve their formats at separate paths, such as Google's `/v1beta/openai` and DeepSeek's
 * `/anthropic`. A URL that an operator configures instead of the vendor's may or may not include such a path.
 */

const pathOf = (address: string | undefined): string =>
  address === undefined ? '' : withoutTrailingSlashes(new URL(address).pathname)

/** Returns true if the format's path differs from that of the vendor's first format in more than the version. */
function hasSeparatePath({ formats }: Preset, format: Format): boolean {
  const root = (address: string | undefined): string => pathOf(address).replace(URL_VERSION, '')
  const row = formats.find(one => one.format === format)
  return row !== undefined && root(row.baseUrl) !== root(formats[0]!.baseUrl)
}

/**
 * Returns the part of a URL before one of the vendor's paths, or the URL's origin if it is the vendor's. Returns
 * undefined for any other URL.
 */
function hostIn({ formats }: Preset, address: string): string | undefined {
  const url = withoutTrailingSlashes(address)
  const paths = formats.map(({ baseUrl }) => pathOf(baseUrl)).sort((a, b) => b.length - a.length)
  const path = paths.find(one => one !== '' && url.endsWith(one))
  if (path !== undefined) return url.slice(0, -path.length)
  const { origin } = new URL(url)
  return formats.some(({ baseUrl }) => baseUrl !== undefined && new URL(baseUrl).origin === origin) ? origin : undefined
}

const endsInPresetPath = ({ formats }: Preset, url: string): boolean =>
  formats.some(({ baseUrl }) => pathOf(baseUrl) !== '' && url.endsWith(pathOf(baseUrl)))

const hasSeparatePaths = (preset: Preset): boolean =>
  preset.formats.some(({ format }) => hasSeparatePath(preset, format))

/**
 * Returns the vendor's formats that are available at an operator's URL: all formats if the URL has one of the vendor's
 * paths or hosts, otherwise the formats at the path of the first one, which can do the work of the others.
 */
export function formatsAt(preset: Preset, address: string): readonly Format[] {
  const all = preset.formats.map(({ format }) => format)
  if (!hasSeparatePaths(preset) || hostIn(preset, address) !== undefined) return all
  return all.filter(format => !hasSeparatePath(preset, format))
}

/**
 * Returns a format's base URL at an operator's URL, if the vendor has a separate path for the format. Returns undefined
 * if the URL is used as configured.
 */
export function baseUrlAt(preset: Preset, format: Format, address: string): string | undefined {
  const row = preset.formats.find(one => one.format === format)
  if (row === undefined || !hasSeparatePaths(preset)) return undefined
  const url = withoutTrailingSlashes(address)
  const host = hostIn(preset, address)
  const isUsedAsConfigured = host === undefined || (url !== host && !endsInPresetPath(preset, url))
  if (isUsedAsConfigured && !hasSeparatePath(preset, format)) return undefined
  return (host ?? url.replace(URL_VERSION, '')) + pathOf(row.baseUrl)
}
