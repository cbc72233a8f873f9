/**
 * Histories of lock use and the checks on them: record with {@link
 * io.mortise.testkit.history.HistoryRecorder}, judge with {@link
 * io.mortise.testkit.history.HistoryChecks}.
 */
@NullMarked
package io.mortise.testkit.history;

import org.jspecify.annotations.NullMarked;
