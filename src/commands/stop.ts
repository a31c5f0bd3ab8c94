/** Settles with the signal by which the process is asked to stop; asked again, it stops at once. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve(signal)
      })
  })
}
