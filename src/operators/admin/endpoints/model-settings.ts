import { defined } from '../../../canonical/node.ts'
import { checkedLater, fields, instantOf, pathName, word } from '../../../config/schema.ts'
import type { ModelFacts } from '../../../config/types.ts'
import { type Edited, withoutNulls } from '../../../gateway/stored-config/editor.ts'
import { rowNamed, type StoredRow } from '../../../gateway/stored-config/index.ts'
import type { Administration } from '../administration.ts'
import { MODEL_AUDIT } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { invalidBody } from '../input.ts'
import { priceView } from '../price-view.ts'
import { Problem } from '../problem.ts'
import { allOf, MODEL_SETTINGS } from '../shapes.ts'
import { faultsView } from './channel-view.ts'

const id = fields({ id: word })
const newId = fields({ id: pathName() })

const listModelSettings = endpoint({
  method: 'get',
  path: '/model-settings',
  operation: 'listModelSettings',
  summary: 'Lists what the config and the store set for models: prices, fallbacks, order, limits, names. Sorted by id.',
  answer: allOf(MODEL_SETTINGS),
  handle: gateway => ({
    data: rowsOf(gateway).toSorted((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id))),
  }),
})

const getModelSettings = endpoint({
  method: 'get',
  path: '/model-settings/{id}',
  operation: 'getModelSettings',
  summary: 'Returns the settings of a model.',
  params: id,
  answer: MODEL_SETTINGS,
  problems: ['not-found'],
  handle: (gateway, { params }) => viewOf(gateway, params.id),
})

const putModelSettings = endpoint({
  method: 'put',
  path: '/model-settings/{id}',
  operation: 'putModelSettings',
  audit: 'model',
  summary: 'Stores the settings of a model: the same fields as in `models` of the config file. Replaces earlier ones.',
  params: newId,
  body: checkedLater('The settings of a model, as in `models` of the config file (ModelConfig).'),
  answer: MODEL_SETTINGS,
  problems: ['read-only'],
  handle: async (gateway, { params, body }, _, recording) => {
    checkNotFixed(gateway, params.id)
    return saved(gateway, await gateway.editor.putModel(params.id, withoutNulls(body), recording(MODEL_AUDIT)))
  },
})

const changeModelSettings = endpoint({
  method: 'patch',
  path: '/model-settings/{id}',
  operation: 'changeModelSettings',
  audit: 'model',
  summary:
    'Changes fields of the settings of a model, which need not exist yet, and of the maps in them, such as `price`; null removes a field.',
  params: newId,
  body: checkedLater('Fields of a model, as in `models` of the config file (ModelConfig).'),
  answer: MODEL_SETTINGS,
  problems: ['read-only'],
  handle: async (gateway, { params, body }, _, recording) => {
    checkNotFixed(gateway, params.id)
    return saved(gateway, await gateway.editor.changeModel(params.id, body, recording(MODEL_AUDIT)))
  },
})

/** Applies stored settings and returns them as stored, because another operator may already have changed them. */
async function saved(gateway: Administration, edited: Edited) {
  if ('faults' in edited) throw invalidBody(edited.faults)
  if ('refusal' in edited) throw UNKNOWN_MODEL
  await gateway.changed()
  const { entry } = edited
  const row = storedRow(gateway, entry.name)
  return storedView({ isShadowed: row?.isShadowed ?? false, faults: [], entry })
}

const deleteModelSettings = endpoint({
  method: 'delete',
  path: '/model-settings/{id}',
  operation: 'deleteModelSettings',
  audit: 'model',
  summary: 'Deletes the stored settings of a model.',
  params: id,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params }, _, recording) => {
    if (storedRow(gateway, params.id) === undefined) checkNotFixed(gateway, params.id)
    if (!(await gateway.editor.drop('model', params.id, false, recording(MODEL_AUDIT)))) throw UNKNOWN_MODEL
    await gateway.changed()
    return {}
  },
})

const UNKNOWN_MODEL = new Problem('not-found', 'There are no settings of this model.')

const storedRow = ({ stored }: Administration, id: string): StoredRow | undefined => rowNamed(stored, 'model', id)

/** Returns the settings of a model that are in use, or else the stored settings that cannot be used. */
function viewOf(gateway: Administration, id: string) {
  const row = rowsOf(gateway).find(one => one.id === id && one.shadowed === undefined)
  if (row === undefined) throw UNKNOWN_MODEL
  return row
}

/** Formats the settings from the config file, then the settings from the store. */
function rowsOf(gateway: Administration) {
  return [...fixedModels(gateway).map(fixedView), ...gateway.stored.filter(isModel).map(storedView)]
}

const isModel = ({ entry }: StoredRow): boolean => entry.kind === 'model'

/** The models of the config file. */
function fixedModels(gateway: Administration): readonly ModelFacts[] {
  const used = gateway.stored.filter(row => isModel(row) && !row.isShadowed)
  const stored = new Set(used.map(({ entry }) => entry.name))
  return [...gateway.config.models.values()].filter(({ id }) => !stored.has(id))
}

function checkNotFixed(gateway: Administration, id: string): void {
  if (fixedModels(gateway).some(one => one.id === id))
    throw new Problem('read-only', 'The settings of this model are in the config file.')
}

const storedView = ({ entry, isShadowed, faults }: StoredRow) => ({
  ...{ id: entry.name, source: 'store' as const, settings: entry.settings },
  ...(isShadowed ? { shadowed: true } : {}),
  ...faultsView(faults),
  ...{ created_at: instantOf(entry.createdAt), updated_at: instantOf(entry.updatedAt) },
})

/** Formats settings of the config file with the names of its fields. */
const fixedView = (facts: ModelFacts) => ({
  ...{ id: facts.id, source: 'config' as const, shadowed: undefined },
  settings: defined({
    ...{ name: facts.name, description: facts.description, interface: facts.interface },
    ...{ context: facts.context, max_output: facts.maxOutput, dialect: facts.dialect, compaction: facts.compaction },
    ...{ input: facts.input, output: facts.output, reasoning: facts.reasoning, tools: facts.tools },
    fallbacks: facts.fallbacks?.map(({ model, on }) => ({ model, on: [...on] })),
    ...{ order: facts.order, price: facts.price && priceView(facts.price) },
  }),
})

/** Endpoints for settings of models: list, read, replace, change, delete. */
export const MODEL_SETTINGS_ENDPOINTS = [
  ...[listModelSettings, getModelSettings, putModelSettings, changeModelSettings, deleteModelSettings],
]
