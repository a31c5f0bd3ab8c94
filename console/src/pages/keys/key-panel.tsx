import type { ComponentChildren } from 'preact'
import type { Key } from '../../api/types.ts'
import { costText } from '../../catalogue/cost.ts'
import { number, time } from '../../format.ts'
import { isAdmin } from '../../session-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { When } from '../../ui/when.tsx'
import { BudgetBars } from './budgets.tsx'
import { type KeyAction, mayChange } from './key-actions.ts'
import { isCaptured, State } from './key-state.tsx'
import { LimitsCell } from './limits.tsx'
import type { KeyUsage } from './load.ts'
import { text } from './texts.ts'

interface KeyPanelProps {
  readonly of: Key
  readonly usage: KeyUsage
  readonly onAction: (action: KeyAction) => void
  readonly onClose: () => void
}

/** Side panel with the details of one key. */
export function KeyPanel({ of, usage, onAction, onClose }: KeyPanelProps) {
  const words = text().panel
  const buttons = isAdmin.value && mayChange(of)
  return (
    <Dialog
      title={of.name}
      place="side"
      onClose={onClose}
      footer={
        buttons && (
          <>
            <Button icon="revoke" onClick={() => onAction('revoke')}>
              {text().actions.revoke}
            </Button>
            <Button icon="rotate" onClick={() => onAction('rotate')}>
              {text().actions.rotate}
            </Button>
            <Button kind="primary" icon="edit" onClick={() => onAction('change')}>
              {text().actions.change}
            </Button>
          </>
        )
      }
    >
      <div class="panel-states">
        <State row={of} />
        <Badge>{of.group}</Badge>
        {of.source === 'config' && <Badge>{text().states.config}</Badge>}
      </div>
      {of.note && <p>{of.note}</p>}
      {of.source === 'config' && (
        <p class="callout">
          <Icon name="info" />
          <span>{words.fromConfig}</span>
        </p>
      )}
      <section>
        <h3>{words.used}</h3>
        <div class="figures">
          <Figure label={words.requests} value={number(usage.requests)} />
          <Figure label={words.errors} value={number(usage.errors)} />
          <Figure label={words.tokens} value={number(usage.tokens, { short: true })} />
          <Figure label={words.cost} value={costText(usage)} />
        </div>
        {usage.days && (
          <Sparkline values={usage.days} label={text().sparkline(number(usage.requests))} width={480} height={56} />
        )}
      </section>
      <dl class="facts">
        <Fact label={words.limits}>
          <LimitsCell of={of} none={text().limit.none} />
          {usage.budgets && <BudgetBars of={usage.budgets} />}
        </Fact>
        <Fact label={words.models}>{of.models ? <code>{of.models.join(', ')}</code> : words.all}</Fact>
        <Fact label={words.doors}>{of.doors ? of.doors.join(', ') : words.all}</Fact>
        <Fact label={words.onLoss}>{text().form.onLossOptions[of.on_loss ?? 'group']}</Fact>
        <Fact label={words.lastUsed}>
          <When at={of.last_used_at} />
        </Fact>
        {of.created_at && (
          <Fact label={words.created}>
            <When at={of.created_at} />
          </Fact>
        )}
        <Fact label={words.expires}>
          <When at={of.expires_at} />
        </Fact>
        {of.revoked_at && (
          <Fact label={words.revoked}>
            <When at={of.revoked_at} />
          </Fact>
        )}
        {of.secrets.length > 0 && <Fact label={words.secrets}>{of.secrets.map(secret => secretLine(secret))}</Fact>}
      </dl>
      {buttons && (
        <section class="capture">
          <div>
            <h3>{words.capture}</h3>
            <p class="note">{words.captureHint}</p>
          </div>
          <Button icon={isCaptured(of) ? 'stop' : 'record'} onClick={() => onAction('capture')}>
            {isCaptured(of) ? text().actions.stopCapture : text().actions.capture}
          </Button>
        </section>
      )}
    </Dialog>
  )
}

const secretLine = ({ prefix, last_four, created_at, expires_at }: Key['secrets'][number]) => (
  <span key={created_at} class="secret-line">
    <code>
      {prefix}…{last_four}
    </code>
    {expires_at && <span class="note">{text().panel.secretUntil(time(expires_at))}</span>}
  </span>
)

const Figure = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <div>
    <span class="note">{label}</span>
    <strong>{value}</strong>
  </div>
)

const Fact = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)
