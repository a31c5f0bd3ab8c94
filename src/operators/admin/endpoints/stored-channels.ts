import * as v from 'valibot'
import { channelYaml } from '../../../config/channel-yaml.ts'
import { checkedLater, fields, text, word } from '../../../config/schema.ts'
import type { Written } from '../../../config/secret-fields.ts'
import { type Edited, withoutNulls } from '../../../gateway/stored-config/editor.ts'
import type { StoredRow } from '../../../gateway/stored-config/index.ts'
import type { Administration } from '../administration.ts'
import { CHANNEL_AUDIT } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { invalidBody } from '../input.ts'
import { Problem } from '../problem.ts'
import { CHANNEL_DETAILS, CHANNEL_DRAFT_TEST, CHANNEL_YAML } from '../shapes.ts'
import { storedChannel } from './channel-view.ts'
import { details, testView } from './channels.ts'

const name = fields({ name: word })

/** A channel as in the config file. The config's schema checks the channel after stored secrets have been filled in. */
const channel = checkedLater('A channel as in the config file (ChannelConfig). A reference keeps a stored secret.')

const createChannel = endpoint({
  method: 'post',
  path: '/channels',
  operation: 'createChannel',
  audit: 'channel',
  summary: 'Stores a channel: the same fields as in the config file. It is in use at every process within a second.',
  body: channel,
  status: 201,
  answer: CHANNEL_DETAILS,
  problems: ['name-taken'],
  location: ({ name }) => `/channels/${encodeURIComponent(name)}`,
  handle: async (gateway, { body }, principal, recording) => {
    const channelSettings = withoutNulls(body)
    if (isTaken(gateway, channelSettings['name'])) throw NAME_TAKEN
    await applyEdit(gateway, await gateway.editor.createChannel(channelSettings, recording(CHANNEL_AUDIT)))
    return details(gateway, String(channelSettings['name']), principal)
  },
})

const changeChannel = endpoint({
  method: 'patch',
  path: '/channels/{name}',
  operation: 'changeChannel',
  audit: 'channel',
  summary: 'Replaces fields of a stored channel; null removes a field. Running requests end with the earlier fields.',
  params: name,
  body: channel,
  answer: CHANNEL_DETAILS,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params, body }, principal, recording) => {
    checkStored(gateway, params.name)
    if (body['name'] !== undefined && body['name'] !== params.name)
      throw invalidBody([{ path: ['name'], message: 'cannot be changed; store another channel instead' }])
    await applyEdit(gateway, await gateway.editor.changeChannel(params.name, body, recording(CHANNEL_AUDIT)))
    return details(gateway, params.name, principal)
  },
})

const deleteChannel = endpoint({
  method: 'delete',
  path: '/channels/{name}',
  operation: 'deleteChannel',
  audit: 'channel',
  summary: 'Deletes a stored channel with its secrets. Running requests continue.',
  params: name,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params }, _, recording) => {
    checkStored(gateway, params.name)
    const isShadowed = storedChannel(gateway, params.name)?.isShadowed
    if (!(await gateway.editor.drop('channel', params.name, isShadowed, recording(CHANNEL_AUDIT))))
      throw UNKNOWN_CHANNEL
    await gateway.changed()
    return {}
  },
})

const testDraft = endpoint({
  method: 'post',
  path: '/channels/test',
  operation: 'testChannelDraft',
  summary:
    'Tests a channel without storing it, and returns it as text for the config file. References stand for the secrets of the channel `stored`.',
  body: fields({ config: channel, model: v.optional(text()), stored: v.optional(text()) }),
  answer: CHANNEL_DRAFT_TEST,
  problems: ['not-found'],
  handle: async (gateway, { body: { config, model, stored } }) => {
    const draft = await gateway.editor.draft(withoutNulls({ name: 'draft', ...config }), stored)
    if ('refusal' in draft) throw UNKNOWN_CHANNEL
    if (draft.faults !== undefined) throw invalidBody(draft.faults, ['config'])
    return { ...testView(await gateway.testDraft(draft.channel, model)), ...channelYaml(draft.written) }
  },
})

const getChannelYaml = endpoint({
  method: 'get',
  path: '/channels/{name}/yaml',
  operation: 'getChannelYaml',
  role: 'admin',
  summary: 'Returns a stored channel as text for the config file, with environment variables in place of its secrets.',
  params: name,
  answer: CHANNEL_YAML,
  problems: ['not-found', 'read-only'],
  handle: (gateway, { params }) => channelYaml(rowOf(gateway, params.name).entry.settings),
})

/** Applies a change of the store. Throws Problem if the edit was refused. */
async function applyEdit(gateway: Administration, edit: Edited): Promise<void> {
  if ('faults' in edit) throw invalidBody(edit.faults)
  if ('refusal' in edit) throw edit.refusal === 'taken' ? NAME_TAKEN : UNKNOWN_CHANNEL
  await gateway.changed()
}

/** Returns true for a name that a new channel cannot have. Stored channels may replace channels of the environment. */
const isTaken = ({ config }: Administration, name: Written[string]): boolean =>
  config.channelsFrom === 'config' && config.channels.some(one => one.name === name)

/** Returns the stored channel with a name. Throws Problem if there is none. */
function rowOf(gateway: Administration, name: string): StoredRow {
  checkStored(gateway, name)
  const row = storedChannel(gateway, name)
  if (row === undefined) throw UNKNOWN_CHANNEL
  return row
}

/**
 * Throws Problem if a channel is not stored but defined elsewhere. The store knows best whether an unknown channel
 * exists: another process may just have stored it.
 */
function checkStored(gateway: Administration, name: string): void {
  if (storedChannel(gateway, name) === undefined && gateway.config.channels.some(one => one.name === name))
    throw new Problem('read-only', 'The channel is defined in the config file or by the environment.')
}

const UNKNOWN_CHANNEL = new Problem('not-found', 'There is no such channel.')
const NAME_TAKEN = new Problem('name-taken', 'Another channel has this name.', [
  { pointer: '/name', detail: 'is the name of another channel' },
])

/** Endpoints for stored channels: create, change, delete, test before storing, text for the config file. */
export const STORED_CHANNELS = [testDraft, createChannel, changeChannel, deleteChannel, getChannelYaml]
