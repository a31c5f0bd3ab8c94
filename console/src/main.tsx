import './style/index.css'
import { render } from 'preact'
import { noticeActions } from './api/activity.ts'
import { App } from './app.tsx'
import { keepFocus } from './focus.ts'
import { listenForKeys } from './keyboard.ts'
import { askBeforeLeaving } from './leaving.ts'
import { returnToNoted } from './returning.ts'
import { loadSession } from './session.ts'
import { applyTheme } from './theme.ts'
import { showHidden } from './visible.ts'

showHidden()
applyTheme()
listenForKeys()
noticeActions()
keepFocus()
askBeforeLeaving()
returnToNoted()
void loadSession()
render(<App />, document.getElementById('app')!)
