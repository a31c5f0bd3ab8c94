import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle, ChannelConfig } from '../config/types.ts'

/** A vendor, as data: what a channel needs to know when its operator gives no more than a key. */
export interface Preset {
  readonly name: string
  /** Where the vendor's key usually is; the first variable that is set counts. */
  readonly env: readonly string[]
  /** Where the address usually is, for vendors that have one address a customer. */
  readonly addressEnv?: string
  /** What follows that address to make a base address. */
  readonly addressSuffix?: string
  /** It answers without a key. */
  readonly keyless?: true
  /** Best first; empty where only the operator knows. */
  readonly formats: readonly PresetFormat[]
  readonly betas?: ChannelConfig['betas']
  /** Which models a channel has whose operator names none; the vendor's own list otherwise. */
  readonly models?: readonly string[]
}

export interface PresetFormat {
  readonly format: Format
  /** Absent where only the operator knows it. */
  readonly baseUrl?: string
  /** Where it differs from the format's own (formats.ts). */
  readonly auth?: AuthStyle
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly dialect?: JsonObject
}
