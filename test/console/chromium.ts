import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Chromium is: `CHROMIUM`, or where distributions put it. */
export const PROGRAM = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find(path => path !== '' && existsSync(path))

/** Why there is no browser for tests here; undefined where there is one: `describe.skipIf(noChromium)`. */
export const noChromium: string | undefined =
  PROGRAM === undefined ? 'no Chromium found (apt-get install chromium, or CHROMIUM=PROGRAM)' : undefined

/** Workers keep globals between test files, also where they load modules anew. */
const shared = globalThis as { testChromium?: Promise<Browser>; testChromiumMissed?: true }

if (noChromium !== undefined && shared.testChromiumMissed === undefined) {
  shared.testChromiumMissed = true
  console.warn(`Tests in a browser are SKIPPED: ${noChromium}`)
}

/** Nothing of these is wanted by a test; the last keeps the browser from asking its vendor for anything. */
const FLAGS = [
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-extensions', '--mute-audio'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** The browser that all tests of this worker share. It ends with the worker. */
export const browser = (): Promise<Browser> => (shared.testChromium ??= launch())

async function launch(): Promise<Browser> {
  if (PROGRAM === undefined) throw new Error(noChromium)
  const launched = await chromium.launch({ executablePath: PROGRAM, args: FLAGS })
  launched.once('disconnected', () => delete shared.testChromium)
  return launched
}
