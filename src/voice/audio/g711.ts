/** One of the two laws of ITU-T G.711: 8 bits for each 16-bit sample. */
export interface Law {
  /** The 256 levels. */
  readonly levels: Int16Array
  /** The code of each 16-bit sample, by its two's complement. */
  readonly codes: Uint8Array
}

/** Sign, exponent and mantissa of a code, without the bits that lines need. */
const fieldsOf = (code: number): { sign: 1 | -1; exponent: number; mantissa: number } => ({
  sign: (code & 0x80) === 0 ? -1 : 1,
  exponent: (code >> 4) & 7,
  mantissa: code & 15,
})

/** µ-law codes have all bits inverted; the levels are 132 apart from those of a plain exponent. */
function mulawLevel(code: number): number {
  const { sign, exponent, mantissa } = fieldsOf(code ^ 0x7f)
  return sign * ((((mantissa << 3) + 132) << exponent) - 132)
}

function mulawCode(sample: number): number {
  const size = Math.min(sample < 0 ? ~sample : sample, 32_635) + 132
  const exponent = Math.max(0, 31 - Math.clz32(size) - 7)
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | ((size >> (exponent + 3)) & 15)) ^ 0x7f
}

/** A-law codes have every other bit inverted; the lowest two segments are of one size. */
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
  let made: T | undefined
  return () => (made ??= make())
}

/** Made with the first call that needs them. */
export const mulaw = once(() => law(mulawLevel, mulawCode))
export const alaw = once(() => law(alawLevel, alawCode))
