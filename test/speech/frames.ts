/**
 * Kilobits per second of MPEG-1 and MPEG-2 Layer III, and samples per second of each version (ISO 11172-3, 13818-3).
 */
const RATES = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const
const SAMPLES: { readonly [version: number]: readonly number[] } = {
  3: [44_100, 48_000, 32_000],
  2: [22_050, 24_000, 16_000],
  0: [11_025, 12_000, 8000],
}

/** Returns the number of consecutive frames in an MP3 file. Throws for anything that is not a frame. */
export function framesIn(bytes: Buffer): number {
  let frames = 0
  for (let at = 0; at < bytes.length; frames++) {
    if (bytes.readUInt16BE(at) >>> 5 !== 0x7ff) throw new Error(`No frame begins at ${at} of ${bytes.length}.`)
    const version = (bytes[at + 1]! >> 3) & 3
    const rate = SAMPLES[version]![(bytes[at + 2]! >> 2) & 3]!
    const bits = RATES[version === 3 ? 1 : 2][bytes[at + 2]! >> 4]! * 1000
    const padding = (bytes[at + 2]! >> 1) & 1
    at += Math.floor(((version === 3 ? 144 : 72) * bits) / rate) + padding
  }
  return frames
}
