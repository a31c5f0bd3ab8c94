import { defined } from '../canonical/node.ts'
import { suggestion } from '../config/faults.ts'
import type { Config, GroupConfig } from '../config/index.ts'
import { groupView } from '../operators/admin/views.ts'
import type { AccessRecords, StoredGroup } from '../store/access-records.ts'
import { type CommandContext, recordChange } from './audited.ts'
import { limitsText } from './key-views.ts'
import type { Terminal } from './outcome.ts'
import { checkName, field, limitsWith, NONE, type PermissionOptions } from './permission-options.ts'
import { table } from './table.ts'
import { configAt, type Repositories, readRecords, withStore } from './with-store.ts'

/** `interlingua groups list`: prints the groups of the config and the store, one per line or as JSON. */
export async function listGroupsCommand(
  { json = false }: { readonly json?: boolean },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const config = configAt(file)
  const stored = (await readRecords(config, records => records.groups())) ?? []
  const configGroups = [...config.groups.values()].filter(
    ({ implied, name }) => !(implied && stored.some(one => one.name === name)),
  )
  const storedOnly = stored.filter(({ name }) => !configGroups.some(one => one.name === name))
  if (json)
    return terminal.out(
      JSON.stringify(
        [...configGroups.map(one => groupRecord(one, true)), ...storedOnly.map(one => groupRecord(one))],
        null,
        2,
      ),
    )
  const rows = [
    ...configGroups.map(one => groupRow(one, 'defined in the config')),
    ...storedOnly.map(one => groupRow(one, '')),
  ]
  terminal.out(table([['NAME', 'MODELS', 'DOORS', 'CHANNELS', 'LIMITS', ''], ...rows]))
}

/** `interlingua groups create NAME`: creates a group in the store. */
export async function createGroupCommand(
  name: string,
  options: PermissionOptions,
  file: string | undefined,
  terminal: Terminal,
) {
  const config = configAt(file)
  checkName(name)
  checkNotFixed(name, config)
  await withStore(config, async store => {
    const first = { name, models: ['*'], limits: {}, onLoss: 'show', createdAt: Date.now() } as const
    const created = await store.access.changeGroup(name, known =>
      known === undefined ? withChanges(first, options) : undefined,
    )
    if (created === undefined) throw new Error(`a group named "${name}" already exists`)
    await recordGroup('createGroup', name, undefined, { store, config, terminal })
  })
  terminal.out(`Created ${name}.`)
}

/** `interlingua groups change NAME`: changes the given settings of a stored group. */
export async function changeGroupCommand(
  name: string,
  options: PermissionOptions,
  file: string | undefined,
  terminal: Terminal,
) {
  const config = configAt(file)
  checkNotFixed(name, config)
  await withStore(config, async store => {
    const before = await groupNamed(name, store)
    const group = await store.access.changeGroup(name, known => known && withChanges(known, options))
    if (group === undefined) throw await missingGroupError(name, store.access)
    await recordGroup('changeGroup', name, before, { store, config, terminal })
  })
  terminal.out(`Changed ${name}.`)
}

/** `interlingua groups drop NAME`: deletes a stored group. Its keys are refused afterwards. */
export async function dropGroupCommand(name: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  await withStore(config, async store => {
    const before = await groupNamed(name, store)
    if (await store.access.dropGroup(name)) return recordGroup('deleteGroup', name, before, { store, config, terminal })
    checkNotFixed(name, config)
    throw await missingGroupError(name, store.access)
  })
  terminal.out(`Dropped ${name}.`)
}

/** Records a change of a group in the audit log. */
async function recordGroup(
  action: string,
  name: string,
  before: StoredGroup | undefined,
  context: CommandContext,
): Promise<void> {
  const after = await groupNamed(name, context.store)
  const views = { before: before && groupView(before), after: after && groupView(after) }
  await recordChange(context, { action, kind: 'group', target: name, name, ...views })
}

const groupNamed = async (name: string, { access }: Repositories): Promise<StoredGroup | undefined> =>
  (await access.groups()).find(group => group.name === name)

const withChanges = ({ name, createdAt, ...before }: StoredGroup, options: PermissionOptions): StoredGroup => ({
  ...{ name, createdAt, limits: limitsWith(before.limits, options) },
  models: options.models === NONE ? ['*'] : (options.models ?? before.models),
  onLoss: options.onLoss === NONE ? 'show' : (options.onLoss ?? before.onLoss),
  ...field('doors', before.doors, options.doors),
  ...field('channels', before.channels, options.channels),
})

const groupRow = ({ name, models, doors, channels, limits }: Omit<GroupConfig, 'implied'>, state: string): string[] => [
  ...[name, models.join(' '), doors?.join(' ') ?? 'all', channels?.join(' ') ?? 'all', limitsText(limits), state],
]

const groupRecord = (
  { name, models, doors, channels, limits, onLoss }: Omit<GroupConfig, 'implied'>,
  configGroups?: true,
): object => defined({ name, models, doors, channels, limits, on_loss: onLoss, fixed: configGroups })

function checkNotFixed(name: string, { groups }: Config): void {
  const group = groups.get(name)
  if (group !== undefined && group.implied !== true)
    throw new Error(`the group "${name}" is defined in the config: change it there`)
}

async function missingGroupError(name: string, records: AccessRecords): Promise<Error> {
  const names = (await records.groups()).map(group => group.name)
  return new Error(`there is no group "${name}" in the store${suggestion(name, names)}`)
}
