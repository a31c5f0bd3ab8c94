/* Run by `npm ci` and `npm install`: the console is served from files that are built here. Installing never fails for it. */

const missing = process.features.typescript
  ? await import('vite').then(
      () => undefined,
      fault => fault.message.split('\n')[0],
    )
  : `this is Node ${process.versions.node}, which runs no TypeScript`

if (missing === undefined) {
  const { buildIfStale } = await import('./build.ts')
  await buildIfStale()
} else {
  console.log(`The console is not built, as its tools are not here (${missing}). All else works without it.`)
  console.log('To have it: npm ci --include=dev, or copy console/dist from where it was built.')
}
