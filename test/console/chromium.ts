import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Path of Chromium: `CHROMIUM`, or a usual path of distributions. */
export const PROGRAM = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find(path => path !== '' && existsSync(path))

/** Reason for skipping browser tests. Undefined if Chromium was found. For `describe.skipIf(noChromium)`. */
export const noChromium: string | undefined =
  PROGRAM === undefined ? 'no Chromium found (apt-get install chromium, or CHROMIUM=PROGRAM)' : undefined

/** Globals outlast test files in a worker, even if modules are loaded again. */
const shared = globalThis as { testChromium?: Promise<Browser>; testChromiumMissed?: true }

if (noChromium !== undefined && shared.testChromiumMissed === undefined) {
  shared.testChromiumMissed = true
  console.warn(`Tests in a browser are SKIPPED: ${noChromium}`)
}

/** Flags that turn off features no test needs. The last one blocks all requests to other hosts. */
const FLAGS = [
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-extensions', '--mute-audio'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** Browser shared by all tests of this worker. It ends with the worker. */
export const browser = (): Promise<Browser> => (shared.testChromium ??= launch())

async function launch(): Promise<Browser> {
  if (PROGRAM === undefined) throw new Error(noChromium)
  const launched = await chromium.launch({ executablePath: PROGRAM, args: FLAGS })
  launched.once('disconnected', () => delete shared.testChromium)
  return launched
}
