import { writeSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { openStore } from '../../../src/store/store.ts'
import { workload } from './workload.ts'

/*
 * A process that does a workload and kills itself at a statement: `node writer.ts ENGINE PLACE ROUNDS STATEMENT`. Prints
 * a line for each acknowledged operation. An odd statement is not sent, an even one is, but its answer is not awaited.
 */

const [engine, place, rounds, statement] = process.argv.slice(2) as [string, string, string, string]

let statements = -1

/** Kills the process if it is the statement's turn. */
function dieAt<T>(run: () => T): T {
  const isLast = statements >= 0 && ++statements === Number(statement)
  if (isLast && statements % 2 === 1) process.kill(process.pid, 'SIGKILL')
  const done = run()
  if (isLast) process.kill(process.pid, 'SIGKILL')
  return done
}

function watch<T extends object>(prototype: T, name: keyof T): void {
  const original = prototype[name] as (...given: unknown[]) => unknown
  prototype[name] = function (this: unknown, ...given: unknown[]): unknown {
    return dieAt(() => original.apply(this, given))
  } as T[keyof T]
}

for (const name of ['run', 'all', 'get'] as const) watch(StatementSync.prototype, name)
watch(DatabaseSync.prototype, 'exec')
watch(Client.prototype, 'query')

const store = await openStore(engine === 'sqlite' ? { engine, path: place } : { engine: 'postgres', url: place })
statements = 0
for (const operation of workload(Number(rounds))) {
  await operation.run(store)
  writeSync(1, 'acknowledged\n')
}
await store.close()
