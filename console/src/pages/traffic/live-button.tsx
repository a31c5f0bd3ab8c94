import { Button } from '../../ui/button.tsx'
import type { LiveState } from './live.ts'
import { text } from './texts.ts'

interface LiveButtonProps {
  readonly isOn: boolean
  readonly state: LiveState
  readonly onToggle: () => void
}

/** Button that pauses or resumes live updates, with their state. */
export const LiveButton = ({ isOn, state, onToggle }: LiveButtonProps) => (
  <>
    <span class={`live-state ${isOn ? state : 'off'}`} role="status">
      <span class="dot" />
      {!isOn ? text().paused : state === 'reconnecting' ? text().reconnecting : text().live}
    </span>
    <Button icon={isOn ? 'stop' : 'play'} aria-pressed={isOn} title={text().liveHint} onClick={onToggle}>
      {isOn ? text().pause : text().resume}
    </Button>
  </>
)
