/** Conversion tables of an ITU-T G.711 law, which encodes each 16-bit sample in 8 bits. */
export interface Law {
  /** The 16-bit level of each of the 256 codes. */
  readonly levels: Int16Array
  /** The code of each 16-bit sample, indexed by the sample's two's complement. */
  readonly codes: Uint8Array
}

/** Splits a code, whose inversion for transmission has been reverted, into sign, exponent and mantissa. */
const fieldsOf = (code: number): { sign: 1 | -1; exponent: number; mantissa: number } => ({
  sign: (code & 0x80) === 0 ? -1 : 1,
  exponent: (code >> 4) & 7,
  mantissa: code & 15,
})

/** Returns the level of a µ-law code. All bits of a code are inverted. 132 is the bias of the segments. */
function mulawLevel(code: number): number {
  const { sign, exponent, mantissa } = fieldsOf(code ^ 0x7f)
  return sign * ((((mantissa << 3) + 132) << exponent) - 132)
}

function mulawCode(sample: number): number {
  const size = Math.min(sample < 0 ? ~sample : sample, 32_635) + 132
  const exponent = Math.max(0, 31 - Math.clz32(size) - 7)
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | ((size >> (exponent + 3)) & 15)) ^ 0x7f
}

/**
 * Returns the level of an A-law code. Every other bit of a code is inverted. The lowest two segments have the same step
 * size.
 */
function alawLevel(code: number): number {
  const { sign, exponent, mantissa } = fieldsOf(code ^ 0x55)
  const size = exponent === 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 264) << (exponent - 1)
  return sign * size
}

function alawCode(sample: number): number {
  const size = sample < 0 ? ~sample : sample
  const exponent = Math.max(0, 31 - Math.clz32(size) - 7)
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | ((size >> (exponent === 0 ? 4 : exponent + 3)) & 15)) ^ 0x55
}

const law = (level: (code: number) => number, code: (sample: number) => number): Law => ({
  levels: Int16Array.from({ length: 256 }, (_, index) => level(index)),
  codes: Uint8Array.from({ length: 65_536 }, (_, index) => code((index << 16) >> 16)),
})

const once = <T>(make: () => T): (() => T) => {
  let value: T | undefined
  return () => (value ??= make())
}

/** Tables of both laws, computed on first use. */
export const mulaw = once(() => law(mulawLevel, mulawCode))
export const alaw = once(() => law(alawLevel, alawCode))
