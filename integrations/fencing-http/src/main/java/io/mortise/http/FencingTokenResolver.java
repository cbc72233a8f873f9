package io.mortise.http;

import io.mortise.FencingToken;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.ServletRequestBindingException;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;

/**
 * Gives the handlers of Spring MVC the token that {@link FencingFilter} has read, for parameters of
 * type {@code FencingToken} or {@code Optional<FencingToken>}. Thread-safe; does not block.
 */
public final class FencingTokenResolver implements HandlerMethodArgumentResolver {
  /** Add it by {@code WebMvcConfigurer.addArgumentResolvers}. */
  public FencingTokenResolver() {}

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    return parameter.nestedIfOptional().getNestedParameterType() == FencingToken.class;
  }

  /**
   * {@inheritDoc}
   *
   * @throws ServletRequestBindingException if the parameter is not optional, and the request has no
   *     token, or did not pass the filter: Spring answers 400
   */
  @Override
  public @Nullable Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest request,
      @Nullable WebDataBinderFactory binders)
      throws ServletRequestBindingException {
    HttpServletRequest servletRequest = request.getNativeRequest(HttpServletRequest.class);
    Optional<FencingToken> token =
        servletRequest == null ? Optional.empty() : FencingFilter.token(servletRequest);
    if (parameter.getParameterType() == Optional.class) {
      return token;
    }
    if (token.isEmpty() && !parameter.isOptional()) {
      throw new ServletRequestBindingException(
          "The request has no fencing token, or did not pass FencingFilter. Send the header "
              + FencingHeader.NAME
              + ", or take an Optional<FencingToken>.");
    }
    return token.orElse(null);
  }
}
