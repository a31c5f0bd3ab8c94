import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'
import type { BetaPolicy } from './betas.ts'

/** A vendor, as data: what a channel needs when its operator gives only a key. */
export interface Preset {
  readonly name: string
  /** The usual environment variables of the vendor's key; the first one that is set counts. */
  readonly env: readonly string[]
  /** The usual environment variable of the address, for vendors with one address per customer. */
  readonly addressEnv?: string
  /** Appended to that address to make a base address. */
  readonly addressSuffix?: string
  /** It needs no key. */
  readonly keyless?: true
  /** Best first; empty where only the operator can name them. */
  readonly formats: readonly PresetFormat[]
  readonly betas?: BetaPolicy
  /** The models of a channel whose operator names none; by default the vendor's own list. */
  readonly models?: readonly string[]
}

export interface PresetFormat {
  readonly format: Format
  /** Absent where only the operator can name it. */
  readonly baseUrl?: string
  /** Where it differs from the format's default (formats.ts). */
  readonly auth?: AuthStyle
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly dialect?: JsonObject
}
