import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * Makes the videos, the voice and the recordings in other containers of the demo: `node building/demo-media.ts`. `npm run
 * demo` puts them into its recordings. Needs ffmpeg with x264 and WebP, and espeak-ng. The files are committed.
 */

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')

/** Sizes that the format `videos` has. */
const SIZES = ['1280x720', '720x1280', '1792x1024', '1024x1792']
/** Length of the videos, in seconds. */
const LENGTH = 4

/** The colors left and right of a border that moves to the right, 16 pixels at a time. */
const DONE = '0x7a9e60'
const OPEN = '0x347a8c'

/** Makes the same file from the same input, whatever the version of ffmpeg. */
const BITEXACT = ['-fflags', '+bitexact', '-flags', '+bitexact']

const ffmpeg = (...words: readonly string[]): Buffer => execFileSync('ffmpeg', ['-v', 'error', '-y', ...words])

function video(size: string, seconds: number): void {
  const color = (name: string): string[] => ['-f', 'lavfi', '-i', `color=c=${name}:s=${size}:r=4:d=${seconds}`]
  const moving = ['-filter_complex', `[0][1]overlay=x='-W+16*floor(W*t/${seconds}/16)'`]
  const encoder = ['-c:v', 'libx264', '-profile:v', 'baseline', '-preset', 'veryslow', '-crf', '40']
  const file = join(FIXTURES, 'videos', `${size}-${seconds}s.mp4`)
  ffmpeg(...color(OPEN), ...color(DONE), ...moving, ...encoder, '-movflags', '+faststart', ...BITEXACT, file)
}

function thumbnail(size: string): void {
  const frame = ['-f', 'lavfi', '-i', `color=c=${DONE}:s=${size}`, '-frames:v', '1']
  ffmpeg(...frame, '-lossless', '1', ...BITEXACT, join(FIXTURES, 'videos', `${size}.webp`))
}

/** Makes the answer of a voice session: 24,000 samples of 16 bits per second. */
function voice(): void {
  const folder = mkdtempSync(join(tmpdir(), 'voice-'))
  const spoken = join(folder, 'spoken.wav')
  execFileSync('espeak-ng', ['-v', 'en-us', '-s', '150', '-w', spoken, 'Hello from the replay.'])
  mkdirSync(join(FIXTURES, 'realtime'), { recursive: true })
  ffmpeg('-i', spoken, '-ar', '24000', '-ac', '1', ...BITEXACT, '-f', 's16le', join(FIXTURES, 'realtime', 'hello.pcm'))
  rmSync(folder, { recursive: true })
}

/** Length of the WAV header of the recording, in bytes. */
const WAV_HEADER = 44
const USAGE = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }

/** Makes raw samples from the recording in WAV, and streams of both. */
function speech(): void {
  const path = (name: string): string => join(FIXTURES, 'speech', name)
  const wav = readFileSync(path('wav.result.wav'))
  const samples = wav.subarray(WAV_HEADER)
  writeFileSync(path('pcm.result.pcm'), samples)
  writeFileSync(path('pcm.request.json'), readFileSync(path('wav.request.json'), 'utf8').replace('"wav"', '"pcm"'))
  writeFileSync(path('wav.events.sse'), events(wav))
  writeFileSync(path('pcm.events.sse'), events(samples))
}

/** Splits a recording into two events. */
function events(bytes: Buffer): string {
  const half = Math.ceil(bytes.length / 6) * 3
  const deltas = [bytes.subarray(0, half), bytes.subarray(half)].map(chunk => chunk.toString('base64'))
  const all = [
    ...deltas.map(audio => ({ type: 'speech.audio.delta', audio })),
    { type: 'speech.audio.done', usage: USAGE },
  ]
  return all.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
}

for (const size of SIZES) video(size, LENGTH)
for (const size of SIZES) thumbnail(size)
voice()
speech()
