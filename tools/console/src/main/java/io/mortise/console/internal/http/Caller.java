package io.mortise.console.internal.http;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an application that serves the console says of a request.
 *
 * @param user who is signed in; null if nobody is
 * @param mayLook whether the console answers
 * @param mayAct whether it does what it is allowed to
 * @param origin of the address that was asked for
 * @param writeHeaders what the application wants with each write, such as its CSRF token, in the
 *     forms that it may want it in
 */
public record Caller(
    @Nullable String user,
    boolean mayLook,
    boolean mayAct,
    String origin,
    Supplier<List<Map<String, String>>> writeHeaders) {}
