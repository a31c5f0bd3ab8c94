/** Resolves with the first stop signal. A second signal exits the process immediately. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve(signal)
      })
  })
}
