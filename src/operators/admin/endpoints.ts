import type { Endpoint } from './endpoint.ts'
import { AUDIT } from './endpoints/audit.ts'
import { CAPTURES } from './endpoints/captures.ts'
import { CHANNELS } from './endpoints/channels.ts'
import { GROUPS } from './endpoints/groups.ts'
import { KEYS } from './endpoints/keys.ts'
import { LIVE } from './endpoints/live.ts'
import { MODEL_SETTINGS_ENDPOINTS } from './endpoints/model-settings.ts'
import { MODELS } from './endpoints/models.ts'
import { OVERVIEW_ENDPOINTS } from './endpoints/overview.ts'
import { PROVIDERS } from './endpoints/provider-list.ts'
import { REQUESTS } from './endpoints/requests.ts'
import { STATUS_ENDPOINTS } from './endpoints/status.ts'
import { STORED_CHANNELS } from './endpoints/stored-channels.ts'
import { TOKENS } from './endpoints/tokens.ts'
import { TRANSLATE } from './endpoints/translate.ts'
import { TRY } from './endpoints/try.ts'
import { USAGE } from './endpoints/usage.ts'
import { USERS } from './endpoints/users.ts'

/** All endpoints of the admin API, one row each. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...STATUS_ENDPOINTS,
  ...OVERVIEW_ENDPOINTS,
  ...KEYS,
  ...GROUPS,
  ...TOKENS,
  ...USERS,
  ...AUDIT,
  ...CHANNELS,
  ...STORED_CHANNELS,
  ...PROVIDERS,
  ...MODELS,
  ...MODEL_SETTINGS_ENDPOINTS,
  ...USAGE,
  ...LIVE,
  ...REQUESTS,
  ...TRANSLATE,
  ...TRY,
  ...CAPTURES,
]
