import type { Format } from '../canonical/node.ts'
import { VERSION } from './formats.ts'
import type { Preset } from './preset.ts'

/*
 * Some vendors have formats at paths of their own: Google's `/v1beta/openai`, DeepSeek's `/anthropic`. What is at the
 * address an operator writes in place of a vendor's may have them or not.
 */

const trimmed = (address: string): string => address.replace(/\/+$/, '')

const pathOf = (address: string | undefined): string =>
  address === undefined ? '' : trimmed(new URL(address).pathname)

/** Whether the format is elsewhere than the vendor's first, in more than where the version of its address stands. */
function isApart({ formats }: Preset, format: Format): boolean {
  const root = (address: string | undefined): string => pathOf(address).replace(VERSION, '')
  const row = formats.find(one => one.format === format)
  return row !== undefined && root(row.baseUrl) !== root(formats[0]!.baseUrl)
}

/** What stands for the vendor's host in an address that ends with one of the vendor's own paths, or is the vendor's. */
function hostIn({ formats }: Preset, address: string): string | undefined {
  const url = trimmed(address)
  const paths = formats.map(({ baseUrl }) => pathOf(baseUrl)).sort((a, b) => b.length - a.length)
  const path = paths.find(one => one !== '' && url.endsWith(one))
  if (path !== undefined) return url.slice(0, -path.length)
  const { origin } = new URL(url)
  return formats.some(({ baseUrl }) => baseUrl !== undefined && new URL(baseUrl).origin === origin) ? origin : undefined
}

const endsInOwnPath = ({ formats }: Preset, url: string): boolean =>
  formats.some(({ baseUrl }) => pathOf(baseUrl) !== '' && url.endsWith(pathOf(baseUrl)))

const isSpread = (preset: Preset): boolean => preset.formats.some(({ format }) => isApart(preset, format))

/**
 * The vendor's formats at an operator's address: all, where it shows that the vendor's own paths hold there; else those
 * beside the first, which do the work of the others.
 */
export function formatsAt(preset: Preset, address: string): readonly Format[] {
  const all = preset.formats.map(({ format }) => format)
  if (!isSpread(preset) || hostIn(preset, address) !== undefined) return all
  return all.filter(format => !isApart(preset, format))
}

/**
 * The base address of one of several formats at an operator's address, where that is at a path of the vendor's own;
 * undefined where the address is the format's as it was written.
 */
export function baseUrlAt(preset: Preset, format: Format, address: string): string | undefined {
  const row = preset.formats.find(one => one.format === format)
  if (row === undefined || !isSpread(preset)) return undefined
  const url = trimmed(address)
  const host = hostIn(preset, address)
  const asWritten = host === undefined || (url !== host && !endsInOwnPath(preset, url))
  if (asWritten && !isApart(preset, format)) return undefined
  return (host ?? url.replace(VERSION, '')) + pathOf(row.baseUrl)
}
