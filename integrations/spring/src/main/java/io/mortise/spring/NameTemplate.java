package io.mortise.spring;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * A lock's name with {@code #{…}} parts, over the parameters of one method. Parsed and checked
 * once; thread-safe.
 */
final class NameTemplate {
  /** Whether objects of a class have a text that is the same in each process. */
  private static final ClassValue<Boolean> HAS_TEXT =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
          } catch (NoSuchMethodException e) {
            return false;
          }
        }
      };

  /** A variable outside of an expression, with a brace right before it. */
  private static final Pattern VARIABLE = Pattern.compile("(\\{?)#([A-Za-z_]\\w*)");

  private final String template;
  private final String method;
  private final Part[] parts;

  private NameTemplate(String template, String method, List<Part> parts) {
    this.template = template;
    this.method = method;
    this.parts = parts.toArray(Part[]::new);
  }

  /** A part of the name, from a call's arguments. */
  private interface Part {
    @Nullable Object evaluate(@Nullable Object[] arguments);
  }

  /** Text of the template itself. */
  private record Text(String text) implements Part {
    @Override
    public String evaluate(@Nullable Object[] arguments) {
      return text;
    }
  }

  /** A parameter alone: the common case, which needs no evaluation. */
  private record Parameter(int index, String text) implements Part {
    @Override
    public @Nullable Object evaluate(@Nullable Object[] arguments) {
      return arguments[index];
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Any other expression. */
  private record Spel(
      Expression expression, Method of, ParameterNameDiscoverer parameters, BeanResolver beans)
      implements Part {
    @Override
    public @Nullable Object evaluate(@Nullable Object[] arguments) {
      MethodBasedEvaluationContext context =
          new MethodBasedEvaluationContext(NO_ROOT, of, arguments, parameters);
      context.setBeanResolver(beans);
      return expression.getValue(context);
    }

    @Override
    public String toString() {
      return expression.getExpressionString();
    }
  }

  /** Expressions have no root object; the check refuses those that use one. */
  private static final Object NO_ROOT = new Object();

  /**
   * Parses a template without placeholders.
   *
   * @param description of the method, for messages
   * @throws IllegalArgumentException if it cannot work, with the reason and the remedy
   */
  static NameTemplate parse(
      String template,
      Method method,
      String description,
      ParameterNameDiscoverer parameters,
      BeanFactory beans) {
    List<Expression> expressions;
    try {
      Expression whole =
          new SpelExpressionParser()
              .parseExpression(template, new TemplateParserContext("#{", "}"));
      expressions =
          whole instanceof CompositeStringExpression composite
              ? Arrays.asList(composite.getExpressions())
              : List.of(whole);
    } catch (ParseException | IllegalStateException e) {
      throw new IllegalArgumentException(
          "the name '" + template + "' cannot be parsed: " + e.getMessage(), e);
    }
    @Nullable String @Nullable [] names = parameters.getParameterNames(method);
    List<Part> parts = new ArrayList<>();
    for (Expression expression : expressions) {
      if (expression instanceof LiteralExpression literal) {
        refuseForgottenSign(literal.getExpressionString(), template, names);
        parts.add(new Text(literal.getExpressionString()));
      } else {
        new SpelCheck(template, method.getParameterCount(), names)
            .check(((SpelExpression) expression).getAST());
        int index = index(expression.getExpressionString().strip(), names);
        if (index >= 0) {
          Class<?> type = method.getParameterTypes()[index];
          refuseWithoutText(type, template, "#" + names[index]);
          parts.add(new Parameter(index, expression.getExpressionString()));
        } else {
          parts.add(new Spel(expression, method, parameters, new BeanFactoryResolver(beans)));
        }
      }
    }
    return new NameTemplate(template, description, parts);
  }

  /** Otherwise all values of the parameter would share one lock, named as the template. */
  private static void refuseForgottenSign(
      String text, String template, @Nullable String @Nullable [] names) {
    Matcher variable = VARIABLE.matcher(text);
    while (variable.find()) {
      String name = variable.group(2);
      if (!variable.group(1).isEmpty() || (names != null && Arrays.asList(names).contains(name))) {
        throw new IllegalArgumentException(
            "the name '"
                + template
                + "' has #"
                + name
                + " as plain text, so that all values would have one lock. Write #{#"
                + name
                + "}");
      }
    }
  }

  private static void refuseWithoutText(Class<?> type, String template, String part) {
    if (type.isArray() || isManyValued(type)) {
      throw new IllegalArgumentException(
          "the name '"
              + template
              + "' takes "
              + part
              + ", which is "
              + type.getSimpleName()
              + ": a name takes a single value. Choose one property of it, or lock in a method that"
              + " has one value");
    }
  }

  private static boolean isManyValued(Class<?> type) {
    return Collection.class.isAssignableFrom(type)
        || Map.class.isAssignableFrom(type)
        || BaseStream.class.isAssignableFrom(type);
  }

  /** The parameter that makes up the whole expression; negative if there is none. */
  private static int index(String expression, @Nullable String @Nullable [] names) {
    for (int i = 0; names != null && i < names.length; i++) {
      if (expression.equals("#" + names[i])) {
        return i;
      }
    }
    return -1;
  }

  /** Whether all calls have the same name. */
  boolean isConstant() {
    return parts.length == 1 && parts[0] instanceof Text;
  }

  /**
   * The name for a call.
   *
   * @throws IllegalArgumentException if a part is null, blank, or has no text that is the same in
   *     each process
   */
  String evaluate(@Nullable Object[] arguments) {
    if (parts.length == 1) {
      return text(parts[0], arguments);
    }
    StringBuilder name = new StringBuilder(template.length() + 16);
    for (Part part : parts) {
      name.append(text(part, arguments));
    }
    return name.toString();
  }

  private String text(Part part, @Nullable Object[] arguments) {
    Object value = part.evaluate(arguments);
    if (value instanceof Optional<?> optional) {
      value = optional.orElse(null);
    }
    if (value == null) {
      throw unusable(part, "null");
    }
    if (value.getClass().isArray() || isManyValued(value.getClass())) {
      throw unusable(part, value.getClass().getSimpleName() + ", which is no single value");
    }
    if (!HAS_TEXT.get(value.getClass())) {
      throw unusable(
          part, "of " + value.getClass() + ", whose toString() differs from process to process");
    }
    String text = value.toString();
    if (text.isBlank() && !(part instanceof Text)) {
      throw unusable(part, "blank");
    }
    return text;
  }

  private IllegalArgumentException unusable(Part part, String what) {
    return new IllegalArgumentException(
        "The name '"
            + template
            + "' of the lock of "
            + method
            + " cannot be made: '"
            + part
            + "' is "
            + what
            + ". The method was not run. Call it with a value that tells what is to be locked.");
  }

  @Override
  public String toString() {
    return template;
  }
}
