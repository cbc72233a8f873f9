package io.mortise.console.internal.http;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An application's statements about a request to its console.
 *
 * @param user the signed-in user; null if there is none
 * @param mayLook whether the console answers
 * @param mayAct whether the console's allowed actions are permitted
 * @param origin of the requested address
 * @param writeHeaders headers that the application may require of each write, such as its CSRF
 *     token, in alternative forms
 */
public record Caller(
    @Nullable String user,
    boolean mayLook,
    boolean mayAct,
    String origin,
    Supplier<List<Map<String, String>>> writeHeaders) {}
