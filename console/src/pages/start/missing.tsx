import type { ComponentChildren } from 'preact'
import { hrefOf } from '../../href.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { text } from './texts.ts'

/* Hints for a gateway without keys, models or channels. */

interface MissingProps {
  readonly title: string
  readonly hint: string
  readonly action?: ComponentChildren
}

const Missing = ({ title, hint, action }: MissingProps) => (
  <div class="callout warn missing" role="status">
    <Icon name="warning" />
    <div>
      <strong>{title}</strong>
      <p>{hint}</p>
    </div>
    {action}
  </div>
)

/** Hint that there is no key, with a button for admins to create one. */
export const MissingKey = ({ onMake }: { readonly onMake: () => void }) => (
  <Missing
    title={text().noKeys}
    hint={isAdmin.value ? text().noKeysHint : text().askForKey}
    action={
      isAdmin.value && (
        <Button kind="primary" icon="plus" onClick={onMake}>
          {text().makeKey}
        </Button>
      )
    }
  />
)

/** Hint that the key may call no conversation model. */
export const MissingModels = () => (
  <Missing
    title={text().noModels}
    hint={text().noModelsHint}
    action={
      <a class="button" href={hrefOf('/keys')}>
        {text().toKeys}
      </a>
    }
  />
)

/** Hint that no upstream is configured. */
export const MissingChannels = () => (
  <Missing
    title={text().noChannels}
    hint={text().noChannelsHint}
    action={
      <a class="button" href={hrefOf('/channels')}>
        {text().toChannels}
      </a>
    }
  />
)
