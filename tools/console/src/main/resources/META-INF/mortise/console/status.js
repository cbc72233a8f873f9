import { useLive } from './live.js';

/** What the console says of itself and of its store; null before it has. */
export const useStatus = () => useLive('status').data;
