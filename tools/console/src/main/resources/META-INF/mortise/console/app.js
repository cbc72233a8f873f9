import { h, render } from 'preact';
import './theme.js';
import { findToken } from './api.js';
import { Shell } from './shell.js';

findToken().then(() => render(h(Shell), document.body));
