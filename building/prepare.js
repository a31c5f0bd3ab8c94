/* Run by `npm ci` and `npm install`. A failed build never makes the installation fail. */

import { spawnSync } from 'node:child_process'

/** Maximum time of a build, in milliseconds. */
const BUILDING = 600_000

/** The builds, each with a message about the consequence if it fails. */
const BUILDS = {
  console: {
    build: async () => (await import('../console/building/build.ts')).buildIfStale(),
    missing: 'The console is not built',
  },
  server: {
    build: async () => (await import('./bundle.ts')).bundleIfStale(),
    missing: 'The server runs from its sources, as it is not bundled',
  },
}

const asked = BUILDS[process.argv[2]]
const lacking =
  asked === undefined
    ? process.features.typescript
      ? await import('vite').then(
          () => undefined,
          fault => fault.message.split('\n')[0],
        )
      : `this is Node ${process.versions.node}, which runs no TypeScript`
    : undefined

if (asked !== undefined) await asked.build().catch(fault => console.log(`${asked.missing}: ${fault.message}`))
else if (lacking === undefined) Object.keys(BUILDS).forEach(buildApart)
else {
  console.log(`The console is not built, as its tools are not here (${lacking}). All else works without it.`)
  console.log('To have it: npm ci --include=dev, or copy console/dist from where it was built.')
  console.log(
    'The server runs from its sources, which takes longer to start and more memory; dist can be copied likewise.',
  )
}

/** Runs a build in its own process because it may run out of memory, crash or never end. */
function buildApart(name) {
  const { status, signal, error } = spawnSync(process.execPath, [import.meta.filename, name], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: BUILDING,
    killSignal: 'SIGKILL',
  })
  if (status !== 0)
    console.log(`${BUILDS[name].missing}: ${error?.message ?? `its build ended with ${signal ?? status}`}`)
}
