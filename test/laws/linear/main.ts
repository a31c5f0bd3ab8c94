import { type Fault, grown } from './growth.ts'

/* Counts the steps of the work named on the command line, and prints what takes too many. */

const [what, only = ''] = process.argv.slice(2)

/** Modules whose steps are counted. They must be loaded after the counter. */
const SHAPES: { readonly [what: string]: () => AsyncGenerator<Readonly<Parameters<typeof grown>>> } = {
  quadratic: async function* () {
    const { QUADRATIC } = await import('./quadratic.ts')
    for (const [name, run] of Object.entries(QUADRATIC)) yield [name, n => [['alone', () => run(n)]]]
  },
  requests: async function* () {
    yield* (await import('./mixed.ts')).requests()
  },
  answers: async function* () {
    yield* (await import('./mixed.ts')).answers()
  },
  streams: async function* () {
    yield* (await import('./streamed.ts')).streams()
    yield* (await import('./written.ts')).written()
  },
  passing: async function* () {
    const { Gateway } = await import('./gateway.ts')
    const gateway = await Gateway.open()
    yield* (await import('./passed.ts')).passing(gateway)
    await gateway.close()
  },
}

const faults: Fault[] = []
for await (const [shape, cells] of SHAPES[what!]!())
  if (shape.includes(only)) faults.push(...(await grown(shape, cells)))
console.log(JSON.stringify(faults))
process.exit(0)
