import fc from 'fast-check'
import { expect, test } from 'vitest'
import { permissionsOf } from '../../../src/accounts/permissions.ts'
import type { GroupConfig } from '../../../src/config/index.ts'
import { runsOf } from '../runs.ts'
import { clocks, common, World } from './commands.ts'
import { LimitsModel } from './model.ts'
import { type Amounts, amounts, settingsOf, smaller, withoutMinutes } from './settings.ts'

/** The group of each key: two keys share one. */
const GROUP_OF = [0, 1, 1]

const groupWith = (limits: Amounts): GroupConfig => ({
  ...{ name: 'g', models: [], onLoss: 'show', limits: settingsOf(limits) },
})

/** The whole units that a caller is told. A bucket that was never used is full. */
const told = (level: number | undefined, perMinute: number | undefined) =>
  perMinute === undefined ? undefined : Math.max(0, Math.floor(level ?? perMinute))

/** Ends all requests. What is left per minute is then what the model has, and all slots are free. */
function checkEnd(model: LimitsModel, world: World): void {
  for (const [charge, one] of world.reservations) {
    if (charge.isOpen) model.settle(charge, 0, 0)
    one.settle({ input: 0 }, 0)
    one.leave()
  }
  for (const [index, { requests, tokens, settings }] of model.keys.entries()) {
    const key = world.reservation(index)
    key.look()
    expect([key.remaining.requests?.remaining, key.remaining.tokens?.remaining]).toEqual([
      told(requests?.now(model.now), settings.rpm),
      told(tokens?.now(model.now), settings.tpm),
    ])
  }
}

test.each([
  ['time only passes', amounts, common(GROUP_OF.length)],
  ['the clock is set back and forth', withoutMinutes, [...common(GROUP_OF.length), ...clocks]],
] as const)('keys of shared groups are admitted as by the model, where %s', async (_, some, commands) => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(some, some, some),
      fc.tuple(some, some),
      fc.commands([...commands], { maxCommands: 80, size: 'max' }),
      async (keys, groups, list) => {
        const groupOf = (key: number): Amounts => groups[GROUP_OF[key]!]!
        const model = new LimitsModel(keys.map((one, key) => smaller(one, groupOf(key))))
        const settings = keys.map((one, key) => {
          const permissions = permissionsOf({ limits: settingsOf(one), enabled: true }, groupWith(groupOf(key)))
          return permissions.limits
        })
        const world = new World(model, settings)
        await fc.asyncModelRun(() => ({ model, real: world }), list)
        checkEnd(model, world)
      },
    ),
    { numRuns: runsOf(50) },
  )
})
